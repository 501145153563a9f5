import { expect, test } from 'vitest'
import { can } from './can.ts'

test('a role has its permissions, and a refusal names the role that is needed', () => {
  expect(can('viewer', 'issues.write')).toEqual({ allowed: false, why: 'You need the member role to change this.' })
  expect(can('member', 'issues.write')).toEqual({ allowed: true, why: undefined })
  expect(can('member', 'projects.write')).toEqual({ allowed: false, why: 'You need the admin role to change this.' })
  expect(can('owner', 'projects.write').allowed).toBe(true)
})
