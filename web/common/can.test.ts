import { expect, test } from 'vitest'
import { can } from './can.ts'

test('roles may what their rank allows, and a refusal names the role', () => {
  expect(can('viewer', 'issue.change')).toEqual({ allowed: false, why: 'Changing it needs the role member.' })
  expect(can('member', 'issue.change')).toEqual({ allowed: true, why: undefined })
  expect(can('member', 'project.rotate')).toEqual({ allowed: false, why: 'Changing it needs the role admin.' })
  expect(can('owner', 'project.rotate').allowed).toBe(true)
})
