import fc from 'fast-check'
import { test } from 'vitest'
import { hostileEvents, smallEvents } from './hostile-json.fixture.ts'
import { leavesOutAlike } from './leave-out.fixture.ts'

test('leaves out alike, for a million documents', { timeout: 1_800_000 }, () => {
  fc.assert(fc.property(hostileEvents, leavesOutAlike), { numRuns: 200_000 })
  fc.assert(fc.property(smallEvents, leavesOutAlike), { numRuns: 800_000 })
})
