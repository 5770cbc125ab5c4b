package rocketproof.agent;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;

/**
 * Members of a JSON object, written into bytes as they are told: each one as <code>,"name":value</code>.
 *
 * <p>Not for several threads at a time. Names are plain words and are written as they are; values are escaped.
 */
public final class Json {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    /** The two digits of the numbers below 100. */
    private static final byte[] TENS = new byte[100];
    private static final byte[] ONES = new byte[100];

    static {
        for (int number = 0; number < 100; number++) {
            TENS[number] = (byte) ('0' + number / 10);
            ONES[number] = (byte) ('0' + number % 10);
        }
    }

    private byte[] bytes;
    private int length;

    /** Room for <code>capacity</code> bytes to begin with; it grows. */
    public Json(int capacity) {
        bytes = new byte[Math.max(16, capacity)];
    }

    /** A member with a text; left out where the text is null. */
    public Json text(String name, String value) {
        if (value != null) {
            name(name);
            quoted(value);
        }
        return this;
    }

    /** A member with a whole number. */
    public Json number(String name, long value) {
        name(name);
        digits(value);
        return this;
    }

    /** A member with a truth value. */
    public Json flag(String name, boolean value) {
        name(name);
        ascii(value ? "true" : "false");
        return this;
    }

    /** A member with a list of texts; left out where the list is null. */
    public Json texts(String name, Collection<String> values) {
        if (values == null) {
            return this;
        }
        name(name);
        one('[');
        boolean first = true;
        for (String value : values) {
            if (!first) {
                one(',');
            }
            quoted(value);
            first = false;
        }
        one(']');
        return this;
    }

    /** A member with an object of these members. */
    public Json object(String name, Json members) {
        name(name);
        one('{');
        if (members.length > 0) {
            append(members.bytes, 1, members.length - 1);
        }
        one('}');
        return this;
    }

    /** Members that were encoded before, see {@link #encoded()}. */
    public Json members(byte[] encoded) {
        append(encoded, 0, encoded.length);
        return this;
    }

    /** The members so far, to be used in many objects. */
    public byte[] encoded() {
        return Arrays.copyOf(bytes, length);
    }

    int length() {
        return length;
    }

    byte[] bytes() {
        return bytes;
    }

    void clear() {
        length = 0;
    }

    /** The members of another. */
    void append(Json other) {
        append(other.bytes, 0, other.length);
    }

    void append(byte[] source, int from, int count) {
        room(count);
        System.arraycopy(source, from, bytes, length, count);
        length += count;
    }

    void one(char character) {
        room(1);
        bytes[length++] = (byte) character;
    }

    void digits(long value) {
        room(20);
        if (value < 0) {
            // The smallest number has no positive counterpart, and nobody is in a hurry with negative ones.
            ascii(Long.toString(value));
            return;
        }
        int at = length + width(value);
        length = at;
        long rest = value;
        while (rest >= 100) {
            long hundreds = rest / 100;
            int two = (int) (rest - hundreds * 100);
            bytes[--at] = ONES[two];
            bytes[--at] = TENS[two];
            rest = hundreds;
        }
        bytes[--at] = ONES[(int) rest];
        if (rest >= 10) {
            bytes[--at] = TENS[(int) rest];
        }
    }

    private static int width(long value) {
        int width = 1;
        for (long bound = 10; width < 19 && value >= bound; bound *= 10) {
            width++;
        }
        return width;
    }

    @SuppressWarnings("deprecation") // String#getBytes of Latin-1 characters copies them, and is what is wanted here.
    private void ascii(String text) {
        int count = text.length();
        room(count);
        text.getBytes(0, count, bytes, length);
        length += count;
    }

    private void name(String name) {
        room(name.length() + 4);
        bytes[length++] = ',';
        bytes[length++] = '"';
        ascii(name);
        bytes[length++] = '"';
        bytes[length++] = ':';
    }

    private void quoted(String value) {
        int count = value.length();
        room(count + 2);
        bytes[length++] = '"';
        for (int index = 0; index < count; index++) {
            char character = value.charAt(index);
            if (character >= ' ' && character < 0x7f && character != '"' && character != '\\') {
                bytes[length++] = (byte) character;
            } else {
                escaped(character);
                room(count - index);
            }
        }
        bytes[length++] = '"';
    }

    /** All that is not plain ASCII, halves of surrogate pairs too: the line stays ASCII whatever a key contains. */
    private void escaped(char character) {
        room(8);
        bytes[length++] = '\\';
        if (character == '"' || character == '\\') {
            bytes[length++] = (byte) character;
            return;
        }
        bytes[length++] = 'u';
        for (int shift = 12; shift >= 0; shift -= 4) {
            bytes[length++] = HEX[(character >> shift) & 15];
        }
    }

    private void room(int count) {
        if (length + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + count));
        }
    }

    @Override
    public String toString() {
        return new String(bytes, 0, length, StandardCharsets.US_ASCII);
    }
}
