import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { VIEW_NAMES, VIEWS } from '../catalogue.ts'
import { askThread, checkText, guardStatement } from './guard-statement.ts'
import { isSyntaxError, loadGrammar, readStatement } from './read-statement.ts'
import { RefusedStatement } from './refused-statement.ts'
import { BENIGN, BENIGN_COUNTED, COSTLY, NEUTRALISED, REFUSED } from './statements.fixture.ts'

const grammar = await loadGrammar()
const PROJECT = '018f0000-0000-7000-8000-000000000001'
const FILTER = `project_id = '${PROJECT}'::uuid`

/** The statement that would run, or why none does. */
function look(text: string): { readonly sql: string | null; readonly why: string } {
  try {
    checkText(text)
    return { sql: readStatement(grammar, text, PROJECT).sql, why: '' }
  } catch (error) {
    if (error instanceof RefusedStatement) return { sql: null, why: error.message }
    if (isSyntaxError(error)) return { sql: null, why: 'syntax' }
    throw error
  }
}

const inkOf = (text: string): string => text.replaceAll(/\s+/g, '')

test('the lists are as long as the specification asks', () => {
  expect(REFUSED.length).toBeGreaterThanOrEqual(150)
  expect(BENIGN.length + BENIGN_COUNTED.length).toBeGreaterThanOrEqual(50)
  expect(new Set(REFUSED).size).toBe(REFUSED.length)
})

test('every statement that must be refused is refused', () => {
  expect(REFUSED.filter((text) => look(text).sql !== null)).toEqual([])
})

test('every statement whose work nothing else would end is refused', () => {
  expect(COSTLY.filter((text) => look(text).sql !== null)).toEqual([])
})

test('every benign statement passes, and so does every harmless one', () => {
  const refused = [...BENIGN, ...BENIGN_COUNTED, ...NEUTRALISED].map((text) => ({ text, ...look(text) }))
  expect(refused.filter(({ sql }) => sql === null)).toEqual([])
})

test('every view that is read is read through the filter of the project, and what was added can be taken away', () => {
  for (const text of [...BENIGN, ...BENIGN_COUNTED, ...NEUTRALISED]) {
    const { sql, written, additions } = readStatement(grammar, text, PROJECT)
    const reads = sql.match(/FROM nlq\.(\w+)/g) ?? []
    expect(sql.split(FILTER).length - 1, text).toBe(reads.length)
    expect(sql.match(/nlq\./g) ?? [], text).toHaveLength(reads.length)
    let rest = ''
    let at = 0
    for (const { from, to } of additions) {
      rest += sql.slice(at, from)
      at = to
    }
    expect(inkOf(rest + sql.slice(at)), text).toBe(inkOf(written))
  }
})

test('the statement that runs is refused when it is sent again: it names schemas and columns of the filter', () => {
  for (const text of BENIGN.filter((one) => /\bfrom (events|issues|releases)\b/.test(one)))
    expect(look(readStatement(grammar, text, PROJECT).sql).sql, text).toBeNull()
})

describe('messages name the part that is not permitted', () => {
  test.each([
    ['delete from events', 'This would change data. Only reading is possible.'],
    ['with x as (delete from events returning *) select * from x', 'This would change data.'],
    ['explain select 1', 'Only a SELECT over the views can run.'],
    ['select pg_sleep(1)', 'The function “pg_sleep” is not permitted.'],
    ['select * from users', 'There is no view “users”. The views are issues, events,'],
    ['select * from public.users', 'A table with a schema is not permitted.'],
    ['select colour from events', 'There is no column “colour”. events has event_id,'],
    ['select e.colour from events e', '“e” has no column “colour”.'],
    ['select * from events for update', 'Locking rows (FOR UPDATE, FOR SHARE) is not permitted.'],
    ['select 1; select 2', 'Only one statement can run.'],
    ["select '{}'::jsonb", 'The type “jsonb” is not permitted.'],
    ['select 1 | 2', 'The operator “|” is not permitted.'],
    ['select * from events tablesample system (1)', 'TABLESAMPLE is not permitted here.'],
    ['with recursive r as (select 1) select * from r', 'WITH RECURSIVE is not permitted.'],
    ['select $1', 'A parameter such as $1 is not permitted here.'],
  ])('%s', (text, why) => {
    expect(look(text).why).toContain(why)
  })
})

describe('days of receipt', () => {
  const daysOf = (text: string): string[] => look(text).sql?.match(/received_day >= \((.*?) - 1\)/g) ?? []
  test.each([
    ["select 1 from events where time > now() - interval '7 days'", 1],
    ["select 1 from events e where e.time >= '2026-11-01' and level = 'error'", 1],
    ["select 1 from events where '2026-11-01' <= time", 1],
    ['select 1 from events where time between now() and now()', 1],
    ['select 1 from events e join issues i on true where e.received_at > current_date', 1],
    // None of these holds for every row, or for every row in the same way.
    ["select 1 from events where time > now() or level = 'error'", 0],
    ['select 1 from events where not (time > now())', 0],
    ['select 1 from events where time < now()', 0],
    ['select 1 from events where time > received_at', 0],
    ['select 1 from events where time > (select max(last_seen) from issues)', 0],
    ['select 1 from events, app_sessions where app_sessions.time > now()', 0],
    ['select 1 from events e (time, b, c) where e.time > now()', 0],
    ['select count(*) filter (where time > now()) from events', 0],
    ['select 1 from app_sessions events where events.time > now()', 0],
  ])('%s: %i', (text, days) => {
    expect(look(text).sql).not.toBeNull()
    expect(daysOf(text)).toHaveLength(days)
  })
})

describe('properties', () => {
  const word = fc.constantFrom(
    ...VIEW_NAMES,
    ...VIEW_NAMES.flatMap((name) => VIEWS[name].columns.map((column) => column.name)),
    ...'select from where and or not in is null as on join left lateral with union all order group by having limit ( ) , . * = < > + - || :: case when then else end exists any interval true ; -- /* */ count sum now left lower pg_sleep set_config users pg_class nlq only for update into returning delete insert values array row $1'.split(
      ' ',
    ),
    "'7 days'",
    "''",
    '1',
    '"a"',
    'x',
    'e',
  )
  test(
    'random words, and benign statements with words in random places: what passes has no view without its filter',
    () => {
      const words = fc.array(word, { maxLength: 30 }).map((all) => `select ${all.join(' ')}`)
      const changed = fc
        .record({
          text: fc.constantFrom(...BENIGN),
          at: fc.nat(),
          drop: fc.nat(3),
          put: fc.array(word, { maxLength: 4 }),
        })
        .map(({ text, at, drop, put }) => {
          const parts = text.split(/(\W)/)
          parts.splice(at % parts.length, drop, ` ${put.join(' ')} `)
          return parts.join('')
        })
      fc.assert(
        fc.property(fc.oneof({ weight: 1, arbitrary: words }, { weight: 3, arbitrary: changed }), (text) => {
          const { sql } = look(text)
          if (sql === null) return
          expect(sql.split(FILTER).length - 1).toBe((sql.match(/nlq\./g) ?? []).length)
          expect(sql).not.toMatch(/(?<!AS |WITH |, )(pg_sleep|set_config)\(/)
        }),
        { numRuns: cases(3_000, 200_000) },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )
})

describe('the thread', () => {
  test('answers as the guard, and says where a text is wrong', async () => {
    await expect(guardStatement('select count(*) from events', PROJECT)).resolves.toMatchObject({ views: ['events'] })
    await expect(guardStatement('select from where', PROJECT)).rejects.toThrow(
      'PostgreSQL does not understand it at “where”',
    )
    await expect(guardStatement('select 1\u0000', PROJECT)).rejects.toThrow('control character')
  })

  test('16 kB of parentheses, again and again, do not spoil it', async () => {
    const deep = [
      `select ${'('.repeat(8_000)}1${')'.repeat(8_000)}`,
      `select ${'('.repeat(16_000)}`,
      '('.repeat(16_000),
      `${'select ('.repeat(2_000)}1${')'.repeat(2_000)}`,
      `select ${'not '.repeat(4_000)}true`,
    ]
    const kinds: string[] = []
    for (let i = 0; i < 60; i++)
      for (const text of deep) kinds.push((await askThread({ text, projectId: PROJECT })).kind)
    // The first means no more than SELECT 1.
    expect(kinds.filter((kind, i) => i % deep.length > 0 && kind === 'guarded')).toEqual([])
    await expect(guardStatement('select level from events', PROJECT)).resolves.toMatchObject({ views: ['events'] })
  })

  test('is replaced after an error of the parser other than in the text', async () => {
    // The parser takes no empty text; statements without text do not reach it.
    expect(await askThread({ text: '', projectId: PROJECT })).toMatchObject({ kind: 'broken' })
    await expect(guardStatement('select level from events', PROJECT)).resolves.toMatchObject({ views: ['events'] })
  })
})
