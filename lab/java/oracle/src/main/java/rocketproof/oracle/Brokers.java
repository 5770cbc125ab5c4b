package rocketproof.oracle;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.File;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.topic.TopicConfigManager;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/** A real broker that has a store and processors, and neither a port nor a name server. */
final class Brokers {
    static final String TOPIC = "topic";
    private static final SocketAddress PEER = new InetSocketAddress("127.0.0.1", 1);
    private static final int COMMIT_LOG_BYTES = 128 << 20;
    private final File folder;
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter()) {
        @Override
        protected SocketAddress remoteAddress0() {
            return PEER;
        }
    };
    private BrokerController broker;
    private Topics topics;

    Brokers(File folder) {
        this.folder = folder;
    }

    /** The broker; it is made when it is first asked for. */
    BrokerController broker() throws Exception {
        if (broker == null) {
            broker = made();
        }
        return broker;
    }

    DefaultMessageStore store() throws Exception {
        return (DefaultMessageStore) broker().getMessageStore();
    }

    /** Topics whose creation fails from now on. */
    Set<String> impossibleTopics() throws Exception {
        broker();
        return topics.impossible;
    }

    /** Configures a group. */
    void group(String name, int retryQueues, int retryMaximum) throws Exception {
        Map<String, Object> settings = Map.of("setRetryQueueNums", retryQueues, "setRetryMaxTimes", retryMaximum);
        groups().put(name, Moved.group(name, settings));
    }

    void forgetGroup(String name) throws Exception {
        groups().remove(name);
    }

    /** What a processor answers to a request that came over the wire. */
    RemotingCommand ask(NettyRequestProcessor processor, RemotingCommand request) throws Exception {
        ChannelHandlerContext context = channel.pipeline().firstContext();
        RemotingCommand answer = processor.processRequest(context, wired(request));
        if (answer == null) {
            answer = channel.readOutbound();
        }
        return wired(answer);
    }

    /** A request of a client of this release with these fields, whatever class its header has here. */
    static RemotingCommand request(int code, Map<String, String> fields, byte[] body) {
        RemotingCommand request = RemotingCommand.createRequestCommand(code, null);
        request.setVersion(MQVersion.CURRENT_VERSION);
        request.setExtFields(new HashMap<>(fields));
        request.setBody(body);
        return request;
    }

    /** A command as it is after the way over the wire. */
    static RemotingCommand wired(RemotingCommand command) throws Exception {
        ByteBuffer frame = command.encode();
        frame.getInt(); // the length, which the frame decoder takes away
        byte[] rest = new byte[frame.remaining()];
        frame.get(rest);
        return RemotingCommand.decode(rest);
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> groups() throws Exception {
        return (Map<String, Object>) Reflect.get(broker().getSubscriptionGroupManager(), "subscriptionGroupTable");
    }

    private BrokerController made() throws Exception {
        BrokerConfig config = new BrokerConfig();
        config.setBrokerIP1("127.0.0.1");
        config.setBrokerIP2("127.0.0.1");
        config.setAutoCreateSubscriptionGroup(false);
        MessageStoreConfig store = new MessageStoreConfig();
        store.setStorePathRootDir(folder.getPath());
        store.setStorePathCommitLog(folder.getPath() + File.separator + "commitlog");
        store.setMappedFileSizeCommitLog(COMMIT_LOG_BYTES);
        store.setDiskMaxUsedSpaceRatio(99);
        store.setHaListenPort(0);
        BrokerController made =
            new BrokerController(config, new NettyServerConfig(), new NettyClientConfig(), store);
        if (!made.initialize()) {
            throw new IllegalStateException("the broker does not initialize in " + folder);
        }
        // What the broker does by the clock, such as writing offsets to disk, would come between the steps of a run.
        ((ExecutorService) Reflect.get(made, "scheduledExecutorService")).shutdownNow();
        // The store is not started, which would open a port; what writes messages needs this of it.
        Reflect.call(Reflect.get(made.getMessageStore(), "allocateMappedFileService"), "start");
        Reflect.set(made.getMessageStore(), "shutdown", false);
        Reflect.set(made, "putMessageFutureExecutor", new AtOnce());
        topics = new Topics(made);
        Reflect.set(topics, "topicConfigTable", Reflect.get(made.getTopicConfigManager(), "topicConfigTable"));
        Reflect.set(made, "topicConfigManager", topics);
        topics.getTopicConfigTable().put(TOPIC, new TopicConfig(TOPIC));
        return made;
    }

    /** Runs tasks in the thread that submits them, so that an answer is there when the processor returns. */
    private static final class AtOnce extends AbstractExecutorService {
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void shutdown() {
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }

    /** The broker's topics; creating one may fail. */
    private static final class Topics extends TopicConfigManager {
        private final Set<String> impossible = new HashSet<>();

        private Topics(BrokerController broker) {
            super(broker);
        }

        @Override
        public TopicConfig createTopicInSendMessageBackMethod(String topic, int queues, int permission, int flag) {
            return impossible.contains(topic)
                ? null
                : super.createTopicInSendMessageBackMethod(topic, queues, permission, flag);
        }
    }
}
