package rocketproof.oracle;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import rocketproof.common.Json;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/**
 * Delay tables and due times, by the real {@code ScheduleMessageService} and, in 5.x, the store beside it.
 *
 * <p>Given: {@code table}; {@code due}, pairs of a level and a time of storing; {@code late}, lists of a level, a due
 * time and a time of looking. Answered with {@code parsed}, {@code highest}, {@code delays}, {@code due},
 * {@code corrected}; and what the store of 5.x says: {@code store_parsed}, {@code store_due}.
 */
final class DelayTables implements Oracle.Subject {
    private final Brokers brokers;

    DelayTables(Brokers brokers) {
        this.brokers = brokers;
    }

    @Override
    public Object answer(Map<String, Object> given) throws Exception {
        MessageStoreConfig config = brokers.broker().getMessageStoreConfig();
        String before = config.getMessageDelayLevel();
        config.setMessageDelayLevel((String) given.get("table"));
        try {
            return Moved.isFour() ? service(given) : serviceAndStore(given);
        } finally {
            config.setMessageDelayLevel(before);
        }
    }

    private Map<String, Object> serviceAndStore(Map<String, Object> given) throws Exception {
        Map<String, Object> told = service(given);
        Object store = brokers.store();
        Map<?, ?> table = (Map<?, ?>) Reflect.get(store, "delayLevelTable");
        Map<Object, Object> before = new LinkedHashMap<>(table);
        table.clear();
        try {
            told.put("store_parsed", Reflect.call(store, "parseDelayLevel"));
            told.put("store_due", due(store, given));
        } finally {
            table.clear();
            restore(table, before);
        }
        return told;
    }

    @SuppressWarnings("unchecked")
    private static void restore(Map<?, ?> table, Map<Object, Object> before) {
        ((Map<Object, Object>) table).putAll(before);
    }

    private Map<String, Object> service(Map<String, Object> given) throws Exception {
        Class<?> type = Moved.type("broker.schedule.ScheduleMessageService", "store.schedule.ScheduleMessageService");
        Object host = Moved.isFour() ? brokers.store() : brokers.broker();
        Object service = type.getConstructors()[0].newInstance(host);
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("parsed", Reflect.call(service, "parseDelayLevel"));
        told.put("highest", Reflect.get(service, "maxDelayLevel"));
        told.put("delays", new TreeMap<>((Map<?, ?>) Reflect.get(service, "delayLevelTable")));
        told.put("due", due(service, given));
        told.put("corrected", corrected(service, given));
        return told;
    }

    private static List<Object> due(Object host, Map<String, Object> given) throws Exception {
        List<Object> told = new ArrayList<>();
        for (Object pair : Json.list(given.get("due"))) {
            int level = Json.integer(Json.list(pair).get(0));
            told.add(Reflect.call(host, "computeDeliverTimestamp", level, Json.list(pair).get(1)));
        }
        return told;
    }

    private static List<Object> corrected(Object service, Map<String, Object> given) throws Exception {
        Class<?> type = Class.forName(service.getClass().getName() + "$DeliverDelayedMessageTimerTask");
        Constructor<?> constructor = type.getConstructors()[0];
        constructor.setAccessible(true);
        List<Object> told = new ArrayList<>();
        for (Object item : Json.list(given.get("late"))) {
            List<Object> parts = Json.list(item);
            Object task = constructor.newInstance(service, Json.integer(parts.get(0)), 0L);
            told.add(Reflect.call(task, "correctDeliverTimestamp", parts.get(2), parts.get(1)));
        }
        return told;
    }
}
