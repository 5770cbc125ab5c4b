package rocketproof.agent.broker;

import java.util.LinkedHashMap;
import java.util.Map;

/** Which client is at which address: commits name only the address, heartbeats both. */
final class Clients {
    /** So many addresses are remembered, also of channels that are closed: their last commits may still be handled. */
    private static final int MOST = 16384;

    private static final Map<String, String> IDS = new LinkedHashMap<String, String>(64, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MOST;
        }
    };

    private Clients() {
    }

    static void learn(String address, String client) {
        if (address != null && !address.isEmpty()) {
            synchronized (IDS) {
                IDS.put(address, client);
            }
        }
    }

    /** The client at that address, null where no consumer was seen there. */
    static String at(String address) {
        synchronized (IDS) {
            return IDS.get(address);
        }
    }
}
