/**
 * JSON with one form for one value, as RFC 8785 (JCS) defines it: keys sorted by UTF-16 code units, no white space,
 * numbers and strings as JavaScript writes them.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((element) => (element === undefined ? 'null' : canonicalJson(element))).join(',')}]`
  if (value instanceof Date) return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`
}
