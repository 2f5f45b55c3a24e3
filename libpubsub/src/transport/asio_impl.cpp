// Asio is compiled once, here, instead of in every file that includes it.
#include <boost/asio/impl/src.hpp>
