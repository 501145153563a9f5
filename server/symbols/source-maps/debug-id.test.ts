import { expect, test } from 'vitest'
import { readDebugId, readSourceMapUrl } from './debug-id.ts'

const id = '85314830-023f-4cf1-a267-535f4e37bb17'
const plain = { version: 3, sources: ['a.js'], names: [], mappings: 'AAAA' }

test.each([
  [JSON.stringify({ ...plain, debug_id: id }), id],
  [JSON.stringify({ ...plain, debugId: id.toUpperCase() }), id],
  [`)]}'\n${JSON.stringify({ ...plain, debugId: id.replaceAll('-', '') })}`, id],
  [JSON.stringify({ ...plain, debugId: 'none' }), null],
  [JSON.stringify({ ...plain, debugId: 5 }), null],
  [JSON.stringify({ ...plain, sources: ['//# debugIdentifier'] }), null],
  [JSON.stringify({ ...plain, sourcesContent: [`//# debugId=${id}`] }), null],
  [`a()\n//# sourceMappingURL=a.js.map\n//# debugId=${id}\n`, id],
  [`a()\n//# debugId=00000000-0000-0000-0000-000000000000\n//# debugId=${id}`, id],
  [`!function(){e._sentryDebugIdIdentifier="sentry-dbid-${id}"}();`, id],
  ['a()', null],
  ['', null],
  ['{"version":3', null],
])('reads the debug id of %s', (text, expected) => {
  expect(readDebugId(Buffer.from(text))).toBe(expected)
})

test.each([
  ['a()\n//# sourceMappingURL=a.js.map\n//# debugId=x', 'a.js.map'],
  ['a()\n//@ sourceMappingURL=a.js.map', 'a.js.map'],
  ['a{}\n/*# sourceMappingURL=a.css.map */', 'a.css.map'],
  ['//# sourceMappingURL=a.map\nb()\n//# sourceMappingURL=b.map?x=1#y', 'b.map?x=1#y'],
  ['a("# sourceMappingURL=a.map")', null],
  ['a()', null],
  ['//# sourceMappingURL=', null],
])('reads the address of the map of %j', (text, expected) => {
  expect(readSourceMapUrl(Buffer.from(text))).toBe(expected)
})
