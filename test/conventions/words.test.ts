import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkedFiles, describeFinding, findWords, readGlossary } from '../../scripts/check-words.ts'
import { findComments, findNames, findSubjects } from '../../scripts/sentences.ts'

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
      writeFileSync(
        join(demo, 'server/demo.ts'),
        '// taken up again after the restart\n\n/** Of the newest event. */\nexport const keyOf = (id: string) => id\n',
      )
      const { status, stdout } = spawnSync(process.execPath, [join(root, 'scripts/check-words.ts')], {
        cwd: demo,
        encoding: 'utf8',
      })
      expect(stdout).toContain('server/demo.ts:1: has "taken up again"; say: restore')
      expect(stdout).toContain('server/demo.ts:3: a comment begins with "Of"')
      expect(stdout).toContain('server/demo.ts: exports keyOf; give it a verb')
      expect(status).toBe(1)
    } finally {
      rmSync(demo, { recursive: true, force: true })
    }
  })
})

describe('sentences', () => {
  test.each([
    ['// Of the newest event.', 'begins with "Of"'],
    ['/** What the toast says. */', 'begins with "What"'],
    ['/* Those that are firing. */', 'begins with "Those"'],
    ['/**\n * Reads it.\n * What is left stays.\n */', 'begins with "What"'],
    [' * @param rows Those that changed\n * @returns What is left\n', 'begins with "Those"'],
    ['-- Of one project.', 'begins with "Of"'],
    ['/** The stack is that of the crash. */', 'has "that of"'],
  ])('%j is refused', (text, problem) => {
    expect(findComments(text.startsWith('--') ? 'server/a.sql' : 'server/a.ts', text).join()).toContain(problem)
  })

  test.each([
    '// Offline events come later.',
    '/** The rows of a project, in the order\n * of their times. */',
    '/**\n * Returns the part\n * of the text.\n */',
    "const text = 'Of those that of'",
  ])('%j is taken', (text) => {
    expect(findComments('web/a.tsx', text)).toEqual([])
  })

  test('a noun has one home, a verb may have several, and tests are free', () => {
    const found = (...files: [string, string][]) => findNames(new Map(files))
    expect(found(['server/a.ts', 'export async function ownersOf() {}'])).toEqual([
      'server/a.ts: exports ownersOf; give it a verb, or a noun of its own',
    ])
    expect(found(['web/a.ts', 'export const draft = (a: A) => a'], ['web/b.ts', 'export function draft() {}'])).toEqual(
      ['web/b.ts: exports draft, as web/a.ts does; a noun is exported once'],
    )
    expect(
      found(
        ['server/a.ts', 'export const readMessage = () => 1\nexport const LIMIT = 1'],
        ['server/b.ts', 'export const readMessage = async () => 1\nexport const LIMIT = 2'],
        ['web/a.ts', 'export const draft = () => 1'],
        ['server/c.ts', 'export const draft = () => 1'],
        ['server/d.test.ts', 'export const ownersOf = () => 1'],
      ),
    ).toEqual([])
  })

  test('a commit is one change of one module', () => {
    expect(findSubjects(['intake: refuse bodies before parsing', 'issues/rows, web: one name'])).toEqual([])
    expect(findSubjects(['auth: words; docs', 'Fix things']).map((line) => line.slice(-40))).toEqual([
      expect.stringContaining('no semicolon'),
      expect.stringContaining('the module that changed'),
    ])
  })
})
