import { expect, test } from 'vitest'
import { measureFirstLoads } from '#bench/web-size.ts'

/** Maximum compressed size of the first page. Every other route is a separate chunk. */
const MAX_JS_BYTES = 200_000
const MAX_CSS_BYTES = 20_000

test('the first load of /issues stays within its budget, and other pages are split from it', async () => {
  const loads = await measureFirstLoads()
  const issues = loads['/issues']!
  expect(issues.jsBytes, issues.files.join(' ')).toBeLessThanOrEqual(MAX_JS_BYTES)
  expect(issues.cssBytes, issues.files.join(' ')).toBeLessThanOrEqual(MAX_CSS_BYTES)
  // A build without its code would be small too.
  expect(issues.jsBytes).toBeGreaterThan(80_000)
  expect(issues.cssBytes).toBeGreaterThan(5_000)

  const foreign = issues.files.filter(
    (file) => /-page|palette|key-sheet|notifications/.test(file) && !/issues-page/.test(file),
  )
  expect(foreign).toEqual([])
}, 60_000)
