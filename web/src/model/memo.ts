// Values that are made once for each key, when they are first asked for.
//
//   const kLoaded = new WeakMap<WebDocument, Promise<Spans>>();
//   const spans = await getOrMake(kLoaded, document, () => decodeSpans(document));
// SPDX-License-Identifier: Apache-2.0

// A Map or a WeakMap.
interface Store<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

// REQUIRES: no value is undefined.
export function getOrMake<Key, Value>(store: Store<Key, Value>, key: Key, make: () => Value): Value {
  let value = store.get(key);
  if (value === undefined) store.set(key, (value = make()));
  return value;
}
