import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { checkOwners, checkSql } from '../../scripts/check-sql.ts'
import { tableOwners } from '../../scripts/table-owners.ts'

/** `npm run check` runs the same over the repository. */

const problems = (file: string, source: string): string[] =>
  checkSql(file, source).map(({ file: where, line, problem }) => `${where}:${line}: ${problem}`)

describe('SQL outside *.queries.ts', () => {
  test.each([
    ['a builder', `export const f = (tx: Tx) =>\n  tx.selectFrom('users').select('id')`, 'built here (selectFrom)'],
    [
      'a builder on its own line',
      `await tx\n  .deleteFrom('comments')\n  .where('id', '=', id)`,
      'built here (deleteFrom)',
    ],
    ['a template', 'const n =\n  sql`now()`', 'sql template'],
    ['a typed template', 'const n =\n  sql<{ n: number }>`select 1 as n`', 'sql template'],
    ['a raw piece', `const n =\n  sql.raw('x')`, 'sql template'],
    ['a statement', `\nawait db.query('select 1')`, 'run here (query)'],
    ['a statement with a row type', `\nawait db.query<{ n: number }>(TEXT)`, 'run here (query)'],
    ['COPY', `\nawait tx.copyIn(TARGET, rows)`, 'run here (copyIn)'],
    ['a text', `const TEXT =\n  'delete from users where id = $1'`, '"delete from users where id = $"'],
    [
      'a string over several lines',
      'const TEXT =\n`\n  with k as (select 1)\n  select * from k`',
      '"with k as (select 1) select *',
    ],
    ['the driver', `\nimport pg from 'pg'`, 'driver is imported'],
  ])('%s is refused, with its line and what to do', (_name, source, problem) => {
    const found = problems('team/rename-org.ts', source)
    expect(found.join('\n')).toMatch(/^server\/team\/rename-org\.ts:2: /)
    expect(found.join('\n')).toContain(problem)
    expect(found.join('\n')).toMatch(
      /Move it to a function in a \*\.queries\.ts file|Take a Connection, Database or Tx/,
    )
  })

  test.each([
    ['a comment', `// select id from users\n/* tx.selectFrom('users') */`],
    ['a sentence', `throw invalid('Select a project from the list.')\nconst text = 'Update the app.'`],
    ['a path and a regular expression', "const path = `/api/${id}/query`\nconst pattern = /'select `from`/"],
    ['an array', `const next = list.with(0, 'x')`],
    ['a call of a query function', `const rows = await selectUsers(tx, actor.orgId)`],
  ])('%s is none', (_name, source) => {
    expect(problems('team/rename-org.ts', source)).toEqual([])
  })

  test('is allowed below the domains', () => {
    const source = `await client.query('begin')`
    for (const file of [
      'platform/storage/database.ts',
      'platform/embedded-postgres/start.ts',
      'platform/jobs/run-jobs.ts',
      'service/cli/database.ts',
    ])
      expect(problems(file, source)).toEqual([])
    expect(problems('service/cli/service.ts', source)).not.toEqual([])
  })
})

describe('a table of another domain', () => {
  test.each([
    ['insertInto', `\nawait tx.insertInto('projects').values(row).execute()`],
    ['updateTable with an alias', `\nawait tx.updateTable('projects as p').set(change).execute()`],
    ['deleteFrom', `\nawait tx.deleteFrom('projects').execute()`],
    ['COPY', `\nawait tx.copyIn('projects (id, name)', rows)`],
    ['insert', '\nconst A = `insert into projects (id) values ($1)`'],
    ['update', '\nconst A = `update projects set name = $1`'],
    ['update with an alias', '\nconst A = `update projects p set name = $1`'],
    ['delete in a common table expression', '\nconst A = `with gone as (delete from projects where id = $1) select 1`'],
    ['rows that a shared function deletes', `\nexport const PART = projectPart(10, [ownRows('projects', 'id')])`],
    ['a template', '\nawait sql`update projects set name = ${name} where id = ${id}`.execute(tx)'],
  ])('must not be written: %s', (_name, source) => {
    expect(problems('identity/team/members.queries.ts', source)).toEqual([
      'server/identity/team/members.queries.ts:2: Writes projects, which belongs to server/projects/registry. Call a function of a *.queries.ts file there instead.',
    ])
    expect(problems('projects/registry/projects.queries.ts', source)).toEqual([])
  })

  test('is declared by its name, also outside *.queries.ts', () => {
    const imported = `import { ownRows } from './own-rows.ts'\nimport { deleteRows, ownRows } from './own-rows.ts'`
    expect(problems('identity/team/purge.ts', imported)).toEqual([])
    expect(problems('identity/team/purge.ts', `ownRows('projects')`).join()).toContain('Writes projects')
    for (const source of ['ownRows(table)', 'tables.map(ownRows)'])
      expect(problems('identity/team/purge.ts', source).join()).toContain('is not called with the name of a table')
  })

  test('may be read', () => {
    expect(problems('identity/team/members.queries.ts', `tx.selectFrom('projects').select('id')`)).toEqual([])
    expect(problems('identity/team/members.queries.ts', '`select * from projects for update`')).toEqual([])
  })

  test.each(["tx.selectFrom('events')", '`select 1 from events e`', '`select 1 from users u join spool s on true`'])(
    'must not be read when it is events or the spool: %s',
    (source) => {
      expect(problems('identity/team/members.queries.ts', source).join()).toMatch(
        /Reads (events|spool), which only server/,
      )
    },
  )
})

test('a read-only view is read by its room and written by none', () => {
  const views = { asked_issues: { room: 'insights/assistant', role: 'asked' } }
  const found = (file: string, sql: string) => checkSql(file, `const A = '${sql}'`, views).map(({ problem }) => problem)
  expect(found('insights/assistant/a.queries.ts', 'select * from asked_issues')).toEqual([])
  expect(found('issues/triage/a.queries.ts', 'select * from asked_issues')).toEqual([
    'Reads asked_issues, a view of the role asked that only server/insights/assistant reads.',
  ])
  expect(found('insights/assistant/a.queries.ts', 'delete from asked_issues where true')).toEqual([
    'Writes asked_issues, which is a read-only view.',
  ])
})

test('every table has an owner, and no other name has one', () => {
  expect(checkOwners('  users: {\n  feed: {\n', { users: ['auth'], olds: ['auth'] })).toEqual([
    'scripts/table-owners.ts: feed has no line in it.',
    'scripts/table-owners.ts: olds is no table. Remove its line.',
  ])
  expect(Object.keys(tableOwners)).toEqual(Object.keys(tableOwners).toSorted())
})

test('the repository passes', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/check-sql.ts'])
  expect(stdout).toBe('')
})
