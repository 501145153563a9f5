/** Pieces with a meaning in an envelope, or similar ones. */
const SPLICES = [
  '\n',
  '\n\n\n',
  '{"type":"event"}\n',
  '{"type":"event","length":99999999999}\n',
  '{"type":"attachment","length":0}\n',
  '{}',
  '[]',
  'null',
  '"',
  '\\u0000',
  '\\ud800',
  '"length":',
  '"event_id":"x",',
  '"__proto__":{"polluted":true},',
  '"constructor":{"prototype":{"polluted":true}},',
  '"values":[',
  '"exception":{"values":[{}]},',
  '"stacktrace":{"frames":[null,{}]},',
  '"timestamp":1e308,',
  '-1e400',
  '\0',
  '[[[[[[[[',
  '\r\n',
  '\u2028',
]

/** A copy with a few bytes changed, cut, doubled or inserted. */
export function mutate(body: Buffer, rand: () => number): Buffer {
  let mutated = Buffer.from(body)
  for (let edits = 1 + Math.floor(rand() * 4); edits > 0; edits--) {
    const at = Math.floor(rand() * (mutated.length + 1))
    const kind = rand()
    if (kind < 0.4) {
      if (at < mutated.length) mutated[at] = Math.floor(rand() * 256)
    } else if (kind < 0.5) mutated = mutated.subarray(0, at)
    else if (kind < 0.85) {
      const splice = Buffer.from(SPLICES[Math.floor(rand() * SPLICES.length)] ?? '')
      mutated = Buffer.concat([mutated.subarray(0, at), splice, mutated.subarray(at)])
    } else mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(Math.floor(rand() * at))])
  }
  return mutated
}

/**
 * A copy of a JSON value with one place replaced by another type, or with a key doubled, dropped or renamed: mutations
 * of bytes rarely reach this, because the JSON stays valid.
 */
export function mutateJson(value: unknown, rand: () => number): unknown {
  if (rand() < 0.15 || typeof value !== 'object' || value === null) return ODD[Math.floor(rand() * ODD.length)]
  if (Array.isArray(value)) {
    const list = Array.from<unknown>(value)
    const at = Math.floor(rand() * (list.length + 1))
    if (at === list.length || rand() < 0.1) list.push(ODD[Math.floor(rand() * ODD.length)])
    else list[at] = mutateJson(list[at], rand)
    return list
  }
  const entries: [string, unknown][] = Object.entries(value)
  const at = Math.floor(rand() * (entries.length + 1))
  const entry = entries[at]
  if (entry === undefined)
    entries.push([KEYS[Math.floor(rand() * KEYS.length)] ?? '', ODD[Math.floor(rand() * ODD.length)]])
  else if (rand() < 0.1) entries.splice(at, 1)
  else entry[1] = mutateJson(entry[1], rand)
  return Object.fromEntries(entries)
}

const KEYS = [
  'values',
  'frames',
  'exception',
  'breadcrumbs',
  'user',
  'tags',
  'contexts',
  'message',
  'logentry',
  'mechanism',
  'type',
  'value',
  'timestamp',
  'level',
  'fingerprint',
  'request',
  'sdk',
  '',
]
const ODD: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  2 ** 53,
  Number.MIN_VALUE,
  '',
  '\0',
  '\ud800',
  'x'.repeat(5_000),
  '{{ default }}',
  '2099-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  'not a time',
  [],
  {},
  [[]],
  [null],
  { values: null },
  { values: [null, 7, 'x', {}] },
  { frames: [null, { function: 7, lineno: 'x', vars: { a: { b: [] } } }] },
  [['a', 'b'], ['a'], []],
]
