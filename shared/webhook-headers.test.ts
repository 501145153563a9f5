import { expect, test } from 'vitest'
import { headersProblem, MASK } from './webhook-headers.ts'

const problemOf = (name: string, value = 'a') => headersProblem([{ name, value }])

test.each(['Authorization', 'X-Api-Key', 'x', "!#$%&'*+-.^_`|~09azAZ", 'A'.repeat(64), 'contents', 'X-Host'])(
  'the header %s is allowed',
  (name) => {
    expect(problemOf(name, 'a'.repeat(1_024))).toBeNull()
  },
)

test.each([
  ['Host'],
  ['host'],
  ['Content-Type'],
  ['content-length'],
  ['Content_Type'],
  ['Connection'],
  ['Keep-Alive'],
  ['Transfer-Encoding'],
  ['upgrade'],
  ['TE'],
  ['Trailer'],
  ['Expect'],
  ['Cookie'],
  ['User-Agent'],
  ['Accept-Encoding'],
  ['Svc-Signature'],
  ['svc_signature'],
  ['Svc-Anything'],
  ['webhook-id'],
  ['Proxy-Authorization'],
  [''],
  ['a b'],
  ['a:b'],
  ['é'],
  ['a\r\nb'],
  ['A'.repeat(65)],
])('the header %j is refused', (name) => {
  expect(problemOf(name)).toMatch(/^headers /)
})

test.each(['a\r\nX-Other: b', 'a\n', '\0', 'é', ' a', 'a ', '\u007f', 'a'.repeat(1_025), MASK])(
  'the value %j is refused',
  (value) => {
    const problem = problemOf('X-Key', value)
    expect(problem).toContain('X-Key')
    expect(problem).toMatch(/^headers must /)
  },
)

test('ten headers are the maximum, each once', () => {
  const headers = Array.from({ length: 10 }, (_, index) => ({ name: `X-${index}`, value: '' }))
  expect(headersProblem(headers)).toBeNull()
  expect(headersProblem([...headers, { name: 'X-10', value: '' }])).toContain('at most 10')
  expect(headersProblem([{ name: 'X-a', value: '' }, { name: 'x-A' }])).toContain('twice')
})
