import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkedFiles, describeFinding, findWords, readGlossary } from '../../scripts/check-words.ts'

const root = join(import.meta.dirname, '../..')
const glossary = readGlossary(readFileSync(join(root, 'docs/glossary.md'), 'utf8'))
const find = (text: string, path = 'server/issues/example.ts'): string[] =>
  findWords(glossary, path, text).map(describeFinding)

describe('words of the glossary', () => {
  test('the glossary explains about forty terms, each in one sentence', () => {
    const rows =
      readFileSync(join(root, 'docs/glossary.md'), 'utf8')
        .split('\n## ')[1]
        ?.match(/^\| (?!Say).*$/gm) ?? []
    expect(rows.length).toBeGreaterThanOrEqual(40)
    for (const row of rows) expect(row.split('|')[2]?.trim()).toMatch(/^[A-Z].*\.$/)
  })

  test('a refused word is found in prose and in every spelling of a name', () => {
    expect(find('const frontDoor = 1\n// the front door\nlet front_door\nFRONT_DOOR')).toHaveLength(4)
    expect(find('const MOST_EVENTS = 5, mostEvents = 1')).toHaveLength(2)
    expect(find('export const one = 1', 'server/issues/door-ledger.ts').length).toBeGreaterThan(0)
  })

  test('a phrase is found where a comment wraps', () => {
    expect(find('/**\n * is kept of its own\n * accord\n */')).toEqual([
      'server/issues/example.ts:2: has "of its own * accord"; say: "by itself", "automatically"',
    ])
  })

  test('a finding names the file, the line, the word and what to say', () => {
    expect(find('one\nconst gravity = 1')).toEqual(['server/issues/example.ts:2: has "gravity"; say: severity'])
  })

  test('ordinary English passes', () => {
    expect(
      find('at most five events, the most recent first; the last report of a field, at least once; 2 doorways'),
    ).toEqual([])
  })

  test('an exception applies only to its own path', () => {
    const one = glossary.exceptions.find(({ path }) => path !== '*')
    if (one === undefined) throw new Error('the glossary has no exception')
    const text = `${one.text ?? ''} ${one.entry}`
    expect(findWords(glossary, `${one.path}x.ts`, text)).toEqual([])
    expect(findWords(glossary, 'nowhere/x.ts', text).length).toBeGreaterThan(0)
  })

  test('the check covers code, styles, tests, migrations and documentation', () => {
    const files = checkedFiles(root)
    for (const part of ['server/', 'web/', 'test/', 'bench/', 'scripts/', 'docs/', 'migrations/', 'README.md']) {
      expect(files.some((file) => file.startsWith(part))).toBe(true)
    }
    expect(files).toContain('docs/compatibility.md')
  })

  test('npm run check fails on a demonstration', () => {
    const demo = mkdtempSync(join(tmpdir(), 'faultline-words-'))
    try {
      mkdirSync(join(demo, 'server'))
      writeFileSync(join(demo, 'server/demo.ts'), '// taken up again after the restart\n')
      const { status, stdout } = spawnSync(process.execPath, [join(root, 'scripts/check-words.ts')], {
        cwd: demo,
        encoding: 'utf8',
      })
      expect(stdout).toContain('server/demo.ts:1: has "taken up again"; say: restore')
      expect(status).toBe(1)
    } finally {
      rmSync(demo, { recursive: true, force: true })
    }
  })
})
