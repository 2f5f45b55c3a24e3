// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_tolerant.hpp"

#include "format/text.hpp"

#include <algorithm>
#include <charconv>

namespace pubsub {

namespace {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

constexpr bool is_token_char(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' ||
         c == '.';
}

constexpr bool all_digits(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), is_digit);
}

class rewriter {
public:
  explicit rewriter(std::string_view text) : text_(text) { out_.reserve(text.size() + 64); }

  std::optional<std::string> run() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == '"') {
        if (!string())
          return std::nullopt;
      } else if (is_token_char(c)) {
        token();
      } else {
        out_ += c;
        ++pos_;
      }
    }
    return std::move(out_);
  }

private:
  void byte(unsigned char x) {
    static constexpr char hex[] = "0123456789abcdef";
    if (x >= 0x20 && x < 0x80 && x != '"' && x != '\\') {
      out_ += static_cast<char>(x);
      return;
    }
    out_ += "\\u00";
    out_ += hex[x >> 4];
    out_ += hex[x & 0xf];
  }

  bool string() {
    out_ += '"';
    for (++pos_; pos_ < text_.size();) {
      const char c = text_[pos_++];
      if (c == '"') {
        out_ += '"';
        return true;
      }
      if (c != '\\')
        byte(static_cast<unsigned char>(c));
      else if (!escape())
        return false;
    }
    return false;
  }

  bool escape() {
    if (pos_ == text_.size())
      return false;
    const char c = text_[pos_++];
    if (c == 'u')
      return unicode_escape();
    if (c == 'v') {
      byte('\v');
      return true;
    }
    if (std::string_view{"\"\\/bfnrt"}.find(c) == std::string_view::npos)
      return false;
    out_ += '\\';
    out_ += c;
    return true;
  }

  bool four_hex_digits(std::uint32_t& out) noexcept {
    if (text_.size() - pos_ < 4)
      return false;
    const auto* first = text_.data() + pos_;
    pos_ += 4;
    return std::from_chars(first, first + 4, out, 16).ptr == first + 4;
  }

  bool unicode_escape() {
    std::uint32_t point = 0;
    if (!four_hex_digits(point))
      return false;
    if (point >= 0xd800 && point < 0xe000) {
      std::uint32_t low = 0;
      if (point >= 0xdc00 || text_.substr(pos_, 2) != "\\u")
        return false;
      pos_ += 2;
      if (!four_hex_digits(low) || low < 0xdc00 || low >= 0xe000)
        return false;
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    utf8(point);
    return true;
  }

  void utf8(std::uint32_t point) {
    const auto tail = [this, point](unsigned shift) {
      byte(static_cast<unsigned char>(0x80 | (point >> shift & 0x3f)));
    };
    if (point < 0x80) {
      byte(static_cast<unsigned char>(point));
    } else if (point < 0x800) {
      byte(static_cast<unsigned char>(0xc0 | point >> 6));
      tail(0);
    } else if (point < 0x10000) {
      byte(static_cast<unsigned char>(0xe0 | point >> 12));
      tail(6);
      tail(0);
    } else {
      byte(static_cast<unsigned char>(0xf0 | point >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  void token() {
    const auto begin = pos_;
    while (pos_ < text_.size() && is_token_char(text_[pos_]))
      ++pos_;
    const auto whole = text_.substr(begin, pos_ - begin);
    const bool is_signed = whole[0] == '-' || whole[0] == '+';
    const auto magnitude = whole.substr(is_signed ? 1 : 0);
    const std::string_view sign = whole[0] == '-' ? "-" : "";
    if (magnitude == "nan" || magnitude == "inf")
      special_real(sign, magnitude);
    else if (!radix_number(sign, magnitude) && !decimal_number(sign, magnitude))
      out_ += whole; // `true` and friends, or for the parser to refuse
  }

  void special_real(std::string_view sign, std::string_view name) {
    out_ += '"';
    out_ += special_real_mark;
    out_ += sign;
    out_ += name;
    out_ += '"';
  }

  bool radix_number(std::string_view sign, std::string_view digits) {
    if (digits.size() < 2 || digits[0] != '0')
      return false;
    int base = 8;
    if (digits[1] == 'x' || digits[1] == 'X')
      base = 16;
    else if (digits[1] == 'b' || digits[1] == 'B')
      base = 2;
    digits.remove_prefix(base == 8 ? 1 : 2);
    std::uint64_t value = 0;
    const auto* last = digits.data() + digits.size();
    const auto [end, code] = std::from_chars(digits.data(), last, value, base);
    if (code != std::errc{} || end != last)
      return false;
    out_ += sign;
    append_number(out_, value);
    return true;
  }

  bool decimal_number(std::string_view sign, std::string_view digits) {
    const auto exponent_at = std::min(digits.find_first_of("eE"), digits.size());
    const auto mantissa = digits.substr(0, exponent_at);
    const auto point_at = std::min(mantissa.find('.'), mantissa.size());
    const auto whole = mantissa.substr(0, point_at);
    const bool has_point = point_at < mantissa.size();
    const auto fraction = has_point ? mantissa.substr(point_at + 1) : std::string_view{};
    if ((whole.empty() && fraction.empty()) || !all_digits(whole) || !all_digits(fraction))
      return false;
    out_ += sign;
    out_ += whole.empty() ? "0" : whole;
    if (has_point) {
      out_ += '.';
      out_ += fraction.empty() ? "0" : fraction;
    }
    out_ += digits.substr(exponent_at);
    return true;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::string out_;
};

} // namespace

std::optional<std::string> strict_json_from(std::string_view text) {
  return rewriter{text}.run();
}

std::string bytes_from_latin1(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80 || i + 1 == text.size())
      out += text[i];
    else
      out += static_cast<char>((lead & 0x03) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
  }
  return out;
}

} // namespace pubsub
