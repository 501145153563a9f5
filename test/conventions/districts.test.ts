import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countTraffic, problemsOf, productSources } from '../../scripts/check-districts.ts'
import { serverDistricts } from '../../scripts/districts.ts'

/** `npm run check` runs the same over the repository. */

const root = join(import.meta.dirname, '../..')

test('arrows and public files of the districts stay within their limits', () => {
  const sources = productSources(root)
  expect(sources.size).toBeGreaterThan(900)
  expect(problemsOf(countTraffic(sources))).toEqual([])
})

test('one more arrow and one more public file are refused, and one file fewer lowers the limit', () => {
  const sources = productSources(root)
  const before = countTraffic(sources)
  const [own = ''] = [...sources.keys()].filter(
    (file) => file.startsWith('server/issues/') && !before.publicFiles.has(file),
  )
  const demo = new Map(sources).set(
    'server/platform/kernel/demo.ts',
    `import { type A } from '#${own}'\nimport {\n  b,\n} from './ids.ts'\nconst c = import('../../issues/no-such-file.ts')\n`,
  )
  const after = countTraffic(demo)
  expect(after.publicFiles.size).toBe(before.publicFiles.size + 1)
  expect([...after.arrows.keys()].filter((arrow) => !before.arrows.has(arrow))).toEqual(['platform → issues'])
  const [arrows, files] = [before.arrows.size, before.publicFiles.size]
  expect(problemsOf(after, arrows, files)).toEqual([
    expect.stringMatching(/arrows between districts; the maximum is/),
    expect.stringMatching(/public files .* the maximum is/),
  ])
  expect(problemsOf(before, arrows, files)).toEqual([])
  expect(problemsOf(before, arrows, files + 1)).toEqual([expect.stringContaining('set MAX_PUBLIC_FILES')])
})

test('ARCHITECTURE.md names every district with its purpose and rooms, and the page of a district names its rooms', () => {
  const map = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  for (const { name, purpose, rooms } of serverDistricts) {
    expect(map).toContain(`| \`${name}\` | ${purpose} | [${rooms.join(', ')}](server/${name}/README.md) |`)
    const page = readFileSync(join(root, 'server', name, 'README.md'), 'utf8')
    expect([...page.matchAll(/^\| `([\w.-]+?)\/?` \|/gm)].map((match) => match[1])).toEqual([...rooms])
  }
})
