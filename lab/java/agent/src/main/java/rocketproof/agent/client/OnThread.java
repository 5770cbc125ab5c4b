package rocketproof.agent.client;

import java.util.Collection;
import java.util.List;

/**
 * What the current thread is about, as far as events need it: RocketMQ's methods do not tell those that they call why.
 */
public final class OnThread {
    private static final ThreadLocal<OnThread> CURRENT = ThreadLocal.withInitial(OnThread::new);

    /** Why queues are dropped and offsets are sent: a word of the table of paths, or null. */
    String why;
    /** The call of a listener that is prepared, under way or being evaluated. */
    Call call;
    /** The pull request that is being sent. */
    Window pulling;
    /** The window whose answer to a pull is being evaluated, the offset that it had asked for, and the answer. */
    Window answered;
    long asked;
    Pulls.Answer answer;
    /** One pass of rebalance over one topic: queues and members as it saw them, and what it shall have. */
    Collection<?> seen;
    List<String> members;
    Collection<?> assigned;
    /** The message that is being sent back. */
    SendBack sendBack;
    /** The window that is being cleaned of messages whose listeners run too long. */
    Window cleaned;
    /** All queues are being locked again. */
    boolean renewing;

    private OnThread() {
    }

    static OnThread get() {
        return CURRENT.get();
    }

    /** From now on the thread does what it does for this reason; the answer is the reason before, for {@link #back}. */
    public static String because(String why) {
        OnThread now = get();
        String before = now.why;
        now.why = why;
        return before;
    }

    /** As {@link #because}, unless there is a reason already. */
    public static String unlessBecause(String why) {
        OnThread now = get();
        String before = now.why;
        if (before == null) {
            now.why = why;
        }
        return before;
    }

    /** The reason is what it was before. */
    public static void back(String before) {
        get().why = before;
    }

    /** All queues are locked again, from now on or no more. */
    public static void renewing(boolean is) {
        get().renewing = is;
    }
}
