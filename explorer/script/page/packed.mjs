// What the page opens, unpacked: entries, and configurations whose long texts are numbers of shared ones.

const SHARED = "\u0001";

/** `{ entries, model(number) }` of the packed text; a configuration is read when it is asked for, once. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { texts, entries, models } = JSON.parse(await new Response(stream).text());
  const read = (value) => {
    if (typeof value === "string") return value.startsWith(SHARED) ? texts[Number(value.slice(1))] : value;
    if (Array.isArray(value)) return value.map(read);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, read(item)]));
  };
  const done = new Map();
  const model = (number) => {
    if (!done.has(number)) done.set(number, read(models[number]));
    return done.get(number);
  };
  return { entries, model };
}
