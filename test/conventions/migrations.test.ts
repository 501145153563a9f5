import { describe, expect, test } from 'vitest'
import { parseMigration, readMigrations } from '#server/platform/storage/migrate.ts'
import { problemsOf } from '../../scripts/migration-rules.ts'

const problems = (sql: string, name = '0900_demo.sql') => problemsOf(parseMigration(name, sql))

test('migrations/ has no statement that stops a running installation', () => {
  expect(readMigrations().flatMap(problemsOf)).toEqual([])
})

describe('after the baseline', () => {
  test.for([
    ['drop table issues;', 'an older program may still use it'],
    ['alter table issues\n  drop column title;', 'an older program may still use it'],
    ['alter table issues rename column title to name;', 'an older program uses the old name'],
    ['truncate issues;', 'deletes data'],
    ['alter table issues alter column number type bigint;', 'rewrites the table'],
    ['alter table issues alter column title set not null;', 'add a check as `not valid`'],
    ['alter table issues add column kind text not null;', 'give it a default'],
    ['alter table issues add column a text, add column kind text not null;', 'give it a default'],
    ['alter table issues add column a text generated always as (lower(title)) stored;', 'rewrites the table'],
    ['alter table issues add constraint kinds check (number > 0);', 'add it as `not valid`'],
    ['alter table issues add foreign key (org_id) references orgs;', 'add it as `not valid`'],
    ['alter table issues add unique (title);', 'build it concurrently'],
    ['create index issues_by_title on issues (title);', 'create it concurrently'],
    ['CREATE UNIQUE INDEX ON issues (title);', 'create it concurrently'],
    ['drop index issues_by_title;', 'drop it concurrently'],
    [`update issues set title = '';`, 'in a background job'],
    ['delete from issues;', 'in a background job'],
  ] as const)('%s is refused', ([sql, reason]) => {
    expect(problems(sql)).toEqual([expect.stringContaining(reason) as string])
    expect(problems(`-- contract: nothing reads it since release 0.2\n${sql}`)).toEqual([])
    expect(problems(`-- contract: yes\n${sql}`)).toHaveLength(1)
    expect(problems(sql, '0019_baseline.sql')).toEqual([])
  })

  test.for([
    'create table labels (id uuid primary key, name text not null);\ncreate index labels_by_name on labels (name);\nalter table labels add unique (id, name);',
    'alter table issues add column kind text;',
    `alter table issues add column kind text not null default 'error';`,
    'alter table issues add constraint kinds check (number > 0) not valid;',
    'alter table issues alter column kind drop not null;',
    `-- drop table issues;\nalter table issues alter column kind set default 'x'; -- rename`,
    '-- no transaction\ncreate index concurrently if not exists issues_by_title on issues (title);\nalter table issues validate constraint kinds;\ndrop index concurrently if exists issues_by_kind;',
  ])('%s is accepted', (sql) => {
    expect(problems(sql)).toEqual([])
  })

  test.for([
    'create index concurrently issues_by_title on issues (title);',
    'drop index concurrently issues_by_title;',
    'alter table issues add column kind text;',
  ])('without a transaction, %s is refused: it cannot run twice', (sql) => {
    expect(problems(`-- no transaction\n-- contract: nothing reads it since release 0.2\n${sql}`)).toEqual([
      expect.stringContaining('allows only repeatable statements') as string,
    ])
  })
})
