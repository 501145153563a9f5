import { expect, test } from 'vitest'
import { detectSecurityKind } from './security-report.ts'

const kindOf = (fields: {
  type?: string
  tags?: Record<string, string>
  contexts?: Parameters<typeof detectSecurityKind>[0]['contexts']
}) =>
  detectSecurityKind({
    type: fields.type ?? 'error',
    tags: Object.entries(fields.tags ?? {}).map(([key, value]) => ({ key, value })),
    contexts: fields.contexts ?? {},
  })

test.each([
  ['csp', 'csp'],
  ['expectct', 'expect_ct'],
  ['expectstaple', 'expect_staple'],
  ['hpkp', 'hpkp'],
  ['nel', null],
  ['default', null],
  ['constructor', null],
])('a report of type %s is %s', (type, kind) => {
  expect(kindOf({ type })).toBe(kind)
})

test.each([
  [{ security: 'tamper' }, 'tamper'],
  [{ 'security.event': 'Jailbreak' }, 'root'],
  [{ 'security-kind': 'certificate pinning failure' }, 'pinning'],
  [{ security_event: 'repeated-auth-failure' }, 'auth_failure'],
  [{ rooted: 'True' }, 'root'],
  [{ 'security.debugger': 'detected' }, 'debugger'],
  [{ ssl_pinning: 'failed' }, 'pinning'],
  [{ rooted: 'False' }, null],
  [{ ssl_pinning: 'ok' }, null],
  [{ security: 'high' }, null],
  [{ page: 'root' }, null],
  [{ security: 'x'.repeat(200) }, null],
])('tags %j say %s', (tags, kind) => {
  expect(kindOf({ tags })).toBe(kind)
})

test('a rooted device is the weakest hint', () => {
  expect(kindOf({ contexts: { os: { rooted: true } } })).toBe('root')
  expect(kindOf({ contexts: { os: { rooted: true } }, tags: { security: 'tamper' } })).toBe('tamper')
  expect(kindOf({ contexts: { os: { rooted: 'true' } } })).toBeNull()
  expect(kindOf({ contexts: { os: { rooted: false } } })).toBeNull()
})
