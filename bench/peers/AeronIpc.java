// Aeron's IPC as a peer: a publisher and a subscriber, two threads of one process or two processes,
// with a media driver inside the subscriber's process. Nothing is lost: what is not accepted for want
// of room is sent again. `peer_aeron` runs this file; the line of JSON at the end is that of the other
// programs of bench/peers.
// SPDX-License-Identifier: BSD-3-Clause
import com.sun.management.OperatingSystemMXBean;
import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.MediaDriverVersion;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.IoUtil;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.YieldingIdleStrategy;

public final class AeronIpc {
    private static final int STREAM_ID = 27;
    private static final int POLL_FRAGMENTS = 256;
    private static final long PATIENCE_NS = 10_000_000_000L;
    private static final double WARM_UP_S = 0.4;
    private static final int WARM_UPS_OF_EACH = 2;

    /** A message starts with its number. An end mark has this bit and the number of messages before it. */
    private static final long END = 1L << 63;
    /** In the end mark of the stream that is measured; the streams before it warm up. */
    private static final long LAST = 1L << 62;

    private static final OperatingSystemMXBean SYSTEM =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** What the command line says; the names are those of all programs of bench/peers, and some of Aeron's own. */
    private static final class Settings {
        final Map<String, String> given = new HashMap<>();

        Settings(String[] arguments) {
            given.putAll(Map.of("--setup", "local", "--messages", "fresh", "--relays", "0", "--payload", "100",
                "--duration", "3", "--pattern", "yield", "--driver-idle", "backoff", "--sending", "fastest",
                "--term-bytes", "67108864"));
            given.put("--folder", "");
            for (int i = 0; i < arguments.length; i += 2) {
                if (!given.containsKey(arguments[i]) || i + 1 == arguments.length)
                    throw new IllegalArgumentException("unknown option, or one without a value: " + arguments[i]);
                given.put(arguments[i], arguments[i + 1]);
            }
        }

        String text(String name) {
            return given.get("--" + name);
        }

        int number(String name) {
            return Integer.parseInt(text(name));
        }

        double seconds() {
            return Double.parseDouble(text("duration"));
        }

        String channel() {
            return "aeron:ipc?term-length=" + number("term-bytes");
        }

        boolean twoProcesses() {
            return !text("setup").equals("local");
        }

        /** Why this cannot be measured; null where it can. */
        String obstacle() {
            if (number("relays") > 0)
                return "Aeron's IPC has no relays";
            return text("messages").equals("fresh") ? null : "each message of Aeron's is a fresh one";
        }
    }

    /** What a thread does that finds nothing to do, or no room. */
    private static IdleStrategy idle(String name) {
        return switch (name) {
            case "spin" -> BusySpinIdleStrategy.INSTANCE;
            case "noop" -> NoOpIdleStrategy.INSTANCE;
            case "yield" -> YieldingIdleStrategy.INSTANCE;
            case "backoff" -> new BackoffIdleStrategy();
            default -> throw new IllegalArgumentException("no idle strategy: " + name);
        };
    }

    /** The two ways to send, each in a loop of its own, so that the compiler of the JVM sees one of them. */
    private static final class Publisher {
        private final ExclusivePublication out;
        private final IdleStrategy idle;
        private final UnsafeBuffer message;
        private final BufferClaim claim = new BufferClaim();

        Publisher(ExclusivePublication out, Settings settings) {
            this.out = out;
            idle = idle(settings.text("pattern"));
            message = new UnsafeBuffer(BufferUtil.allocateDirectAligned(settings.number("payload"), 64));
            message.setMemory(0, message.capacity(), (byte) 'x');
            message.putLong(0, 0);
        }

        /** Both ways for a while, then the faster one, or the one that was asked for, for the time that counts. */
        String run(Settings settings, Runnable measuring) {
            final long[] sent = new long[2];
            for (int i = 0; i < 2 * WARM_UPS_OF_EACH; ++i)
                sent[i % 2] = stream(i % 2 == 1, WARM_UP_S, 0);
            boolean claiming = switch (settings.text("sending")) {
                case "tryClaim" -> true;
                case "offer" -> false;
                default -> sent[1] > sent[0];
            };
            measuring.run();
            stream(claiming, settings.seconds(), LAST);
            return claiming ? "tryClaim" : "offer";
        }

        /** A stream of numbered messages and its end mark; returns how many messages there were. */
        private long stream(boolean claiming, double seconds, long mark) {
            final long end = System.nanoTime() + (long) (seconds * 1e9);
            final long count = claiming ? claimUntil(end) : offerUntil(end);
            message.putLong(0, END | mark | count);
            offer();
            return count;
        }

        private long offerUntil(long end) {
            long number = 0;
            for (;; ++number) {
                if (number % 64 == 0 && System.nanoTime() >= end)
                    return number;
                message.putLong(0, number);
                offer();
            }
        }

        private void offer() {
            long position = out.offer(message, 0, message.capacity());
            while (position < 0) {
                waitAfter(position);
                position = out.offer(message, 0, message.capacity());
            }
        }

        private long claimUntil(long end) {
            final int length = message.capacity();
            long number = 0;
            for (;; ++number) {
                if (number % 64 == 0 && System.nanoTime() >= end)
                    return number;
                message.putLong(0, number);
                long position = out.tryClaim(length, claim);
                while (position < 0) {
                    waitAfter(position);
                    position = out.tryClaim(length, claim);
                }
                claim.buffer().putBytes(claim.offset(), message, 0, length);
                claim.commit();
            }
        }

        private void waitAfter(long refusal) {
            if (refusal != Publication.BACK_PRESSURED && refusal != Publication.ADMIN_ACTION)
                throw new IllegalStateException("the publication is " + Publication.errorString(refusal));
            idle.idle();
        }
    }

    /** Keeps the books of one stream after the other; the last one counts. */
    private static final class Subscriber implements FragmentHandler {
        long delivered;
        long disordered;
        long published;
        long firstNs;
        long endNs;
        long cpuNs;
        boolean ended;
        private long expected;

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            final long number = buffer.getLong(offset);
            if (number < 0) {
                end(number);
                return;
            }
            if (delivered++ == 0) {
                firstNs = System.nanoTime();
                cpuNs = SYSTEM.getProcessCpuTime();
            }
            if (number != expected)
                ++disordered;
            expected = number + 1;
        }

        private void end(long mark) {
            published = mark & ~(END | LAST);
            ended = (mark & LAST) != 0;
            if (ended) {
                endNs = System.nanoTime();
                cpuNs = SYSTEM.getProcessCpuTime() - cpuNs;
                return;
            }
            if (delivered != published || disordered != 0)
                throw new IllegalStateException("messages were lost while warming up");
            delivered = disordered = expected = 0;
        }

        /**
         * Until the end of the last stream. A line a second shows the rate, of the streams that warm up, too. With the
         * first message, when the publisher has found everything, {@code begun} is called.
         */
        void run(Image image, String idling, Runnable begun) {
            final IdleStrategy idle = idle(idling);
            long received = 0;
            long seen = 0;
            long shown = 0;
            long seenNs = System.nanoTime();
            long shownNs = seenNs;
            for (int polls = 1; !ended; ++polls) {
                final int fragments = image.poll(this, POLL_FRAGMENTS);
                if (received == 0 && fragments > 0)
                    begun.run();
                received += fragments;
                idle.idle(fragments);
                if (polls % 4096 != 0)
                    continue;
                final long now = System.nanoTime();
                if (received > seen)
                    seenNs = now;
                else if (now - seenNs > PATIENCE_NS || image.isClosed())
                    throw new IllegalStateException("no message came any more");
                seen = received;
                if (now - shownNs < 1_000_000_000L)
                    continue;
                System.out.printf(Locale.ROOT, "rate %.0f%n", (received - shown) * 1e9 / (now - shownNs));
                shownNs = now;
                shown = received;
            }
        }

        double rate() {
            return delivered * 1e9 / (endNs - firstNs);
        }
    }

    private static MediaDriver startDriver(Settings settings, Path folder) {
        return MediaDriver.launchEmbedded(new MediaDriver.Context()
            .aeronDirectoryName(folder.toString())
            .dirDeleteOnStart(true)
            .dirDeleteOnShutdown(true)
            .threadingMode(ThreadingMode.SHARED)
            .sharedIdleStrategy(idle(settings.text("driver-idle"))));
    }

    private static Aeron connect(String folder) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(folder));
    }

    private static void waitUntil(Callable<Boolean> done, String what) throws Exception {
        for (final long end = System.nanoTime() + PATIENCE_NS; !done.call(); Thread.sleep(1))
            if (System.nanoTime() > end)
                throw new IllegalStateException("waited in vain for " + what);
    }

    /** The publishing side, which prints at its end how it has sent and what it has used. */
    private static String publish(Aeron client, Settings settings) throws Exception {
        try (ExclusivePublication out = client.addExclusivePublication(settings.channel(), STREAM_ID)) {
            waitUntil(out::isConnected, "the subscriber");
            final long[] cpuNs = {0};
            final String way = new Publisher(out, settings).run(settings, () -> cpuNs[0] = SYSTEM.getProcessCpuTime());
            return "done " + way + " " + (SYSTEM.getProcessCpuTime() - cpuNs[0]);
        }
    }

    /** Here and in a process of its own alike: returns what {@link #publish} says. */
    private static FutureTask<String> startPublisher(Aeron client, Settings settings, Path folder) throws IOException {
        if (!settings.twoProcesses()) {
            final FutureTask<String> task = new FutureTask<>(() -> publish(client, settings));
            new Thread(task, "publisher").start();
            return task;
        }
        final List<String> command = new ArrayList<>(List.of(System.getProperty("peer.script")));
        settings.given.forEach((name, value) -> command.addAll(List.of(name, value)));
        command.addAll(List.of("--folder", folder.toString()));
        final Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Runtime.getRuntime().addShutdownHook(new Thread(child::destroyForcibly));
        final FutureTask<String> task = new FutureTask<>(() -> {
            final String said = new BufferedReader(new InputStreamReader(child.getInputStream())).readLine();
            return said == null ? "done nothing 0" : said;
        });
        new Thread(task, "publisher").start();
        return task;
    }

    /** The driver's files go once both sides have mapped them, so that nothing is left behind if all are killed. */
    private static int measure(Settings settings) throws Exception {
        final Path memory = Path.of("/dev/shm");
        final Path folder = Files.createTempDirectory(
            Files.isDirectory(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir")), "pubsub-bench-aeron-");
        try (MediaDriver driver = startDriver(settings, folder); Aeron client = connect(folder.toString());
             Subscription in = client.addSubscription(settings.channel(), STREAM_ID)) {
            final FutureTask<String> publisher = startPublisher(client, settings, folder);
            waitUntil(in::isConnected, "the publisher");
            final Subscriber subscriber = new Subscriber();
            subscriber.run(in.imageAtIndex(0), settings.text("pattern"), () -> IoUtil.delete(folder.toFile(), true));
            final String[] said = publisher.get().split(" ");
            final long publisherNs = settings.twoProcesses() ? Long.parseLong(said[2]) : 0;
            return report(subscriber, said[1], publisherNs);
        }
    }

    private static int report(Subscriber books, String way, long publisherNs) {
        System.out.printf(Locale.ROOT,
            "{\"peer\":\"Aeron\",\"version\":\"%s, %s\",\"msgs_per_s\":%.1f,\"published\":%d,\"delivered\":%d,"
                + "\"lost\":%d,\"disordered\":%d,\"cpu_ns\":%.1f}%n",
            MediaDriverVersion.VERSION, way, books.rate(), books.published, books.delivered,
            Math.max(0, books.published - books.delivered), books.disordered,
            (double) (books.cpuNs + publisherNs) / Math.max(1, books.delivered));
        return books.published == books.delivered && books.disordered == 0 ? 0 : 3;
    }

    /** The publisher's process ends with the subscriber's: that closes its stdin. */
    private static void endWithParent() {
        final Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                }
            } catch (IOException ignored) {
                // Then there is no parent to be heard of either.
            }
            Runtime.getRuntime().halt(2);
        });
        watch.setDaemon(true);
        watch.start();
    }

    private static int run(Settings settings) throws Exception {
        if (settings.obstacle() != null) {
            System.out.println("{\"peer\":\"Aeron\",\"unavailable\":\"" + settings.obstacle() + "\"}");
            return 0;
        }
        if (settings.text("folder").isEmpty())
            return measure(settings);
        endWithParent();
        try (Aeron client = connect(settings.text("folder"))) {
            System.out.println(publish(client, settings));
        }
        return 0;
    }

    public static void main(String[] arguments) {
        int status = 2;
        try {
            status = run(new Settings(arguments));
        } catch (Throwable problem) {
            System.err.println("Aeron: " + problem);
        }
        System.out.flush();
        System.exit(status);
    }
}
