import { AbortedTransactionError, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../kernel/ids.ts'
import { CopyRows } from './copy-in.ts'
import type { Tx } from './database.ts'
import { isDatabaseAway } from './pool.ts'

const t = await testApp()
const { app } = t

const anOrg = (id: string) => ({ id, slug: `o-${id}`, name: 'Org', data_key_sealed: 'x', created_at: app.clock.now() })

const orgExists = async (id: string): Promise<boolean> =>
  (await app.db.query('select 1 from orgs where id = $1', [id])).rowCount === 1

/** Ends a session as a restart of the database would, and waits until it is gone. */
async function end(pid: number): Promise<void> {
  await app.db.query('select pg_terminate_backend($1)', [pid])
  await waitFor('the session to end', async () => {
    const { rowCount } = await app.db.query('select 1 from pg_stat_activity where pid = $1', [pid])
    return rowCount === 0
  })
}

const pidOf = async (tx: Tx): Promise<number> =>
  (await tx.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0

function orgRow(id: string): CopyRows {
  const rows = new CopyRows()
  rows.row(5)
  rows.uuid(id)
  for (const text of [id, 'Copied', 'x']) rows.text(text)
  rows.time(app.clock.now())
  return rows
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('a transaction', () => {
  test('runs the query builder, templates, statements and COPY on one connection, and commits them together', async () => {
    const [built, stated, copied] = [newId(), newId(), newId()]
    const seen = await app.tx(async (tx) => {
      await tx.insertInto('orgs').values(anOrg(built)).execute()
      const { rowCount } = await tx.query(
        `insert into orgs (id, slug, name, data_key_sealed, created_at) select $1::uuid, 's-' || $1::text, name, data_key_sealed, created_at
         from orgs where id = $2`,
        [stated, built],
      )
      expect(rowCount).toBe(1)
      const rows = new CopyRows()
      rows.row(5)
      rows.uuid(copied)
      rows.text(`c-${copied}`)
      rows.text('Copied')
      rows.text('x')
      rows.time(app.clock.now())
      await tx.copyIn('orgs (id, slug, name, data_key_sealed, created_at)', rows)
      const out = await tx.copyOut(`select name from orgs where id = '${copied}'`, 1)
      expect(out.map(([name]) => String(name))).toEqual(['Copied'])
      const template = await sql<{
        n: number
      }>`select count(*) as n from orgs where id = any(${[built, stated, copied]})`.execute(tx)
      return template.rows[0]?.n
    })
    expect(seen).toBe(3)
    for (const id of [built, stated, copied]) expect(await orgExists(id)).toBe(true)
  })

  test('rolls everything back when the work throws', async () => {
    const [built, copied] = [newId(), newId()]
    const thrown = new Error('no')
    const work = app.tx(async (tx) => {
      await tx.insertInto('orgs').values(anOrg(built)).execute()
      const rows = new CopyRows()
      rows.row(5)
      rows.uuid(copied)
      rows.text(`c-${copied}`)
      rows.text('Copied')
      rows.text('x')
      rows.time(app.clock.now())
      await tx.copyIn('orgs (id, slug, name, data_key_sealed, created_at)', rows)
      throw thrown
    })
    expect(await failure(work)).toBe(thrown)
    expect(await orgExists(built)).toBe(false)
    expect(await orgExists(copied)).toBe(false)
  })

  test.each([
    ['a statement', (tx: Tx) => tx.query('select 1/0')],
    ['a named statement', (tx: Tx) => tx.query({ name: 'test-division', text: 'select 1/$1::int', values: [0] })],
    ['a template', (tx: Tx) => sql`select 1/0`.execute(tx)],
    ['COPY out', (tx: Tx) => tx.copyOut('select 1/0', 1)],
    ['COPY in', (tx: Tx) => tx.copyIn('orgs (id)', new CopyRows())],
  ])('rolls back when %s fails, and its connection serves the next one', async (_name, fail) => {
    const id = newId()
    const broken = new CopyRows()
    broken.row(2)
    const work = app.tx(async (tx) => {
      await tx.insertInto('orgs').values(anOrg(id)).execute()
      await fail(tx)
      await tx.copyIn('orgs (id)', broken)
    })
    expect(await failure(work)).toHaveProperty('code', expect.stringMatching(/^22/))
    expect(await orgExists(id)).toBe(false)
    expect(await app.tx(async (tx) => (await tx.query<{ n: number }>('select 1 as n')).rows)).toEqual([{ n: 1 }])
  })

  test('throws at its end when the work caught the error of a statement, because PostgreSQL does not commit it', async () => {
    const id = newId()
    const work = app.tx(async (tx) => {
      await tx.insertInto('orgs').values(anOrg(id)).execute()
      await failure(tx.query('select 1/0'))
    })
    expect(await failure(work)).toBeInstanceOf(AbortedTransactionError)
    expect(await orgExists(id)).toBe(false)
  })

  test('keeps the statements before a savepoint that failed, and continues', async () => {
    const [before, inside, after] = [newId(), newId(), newId()]
    await app.tx(async (tx) => {
      await tx.insertInto('orgs').values(anOrg(before)).execute()
      const part = tx.savepoint(async () => {
        await tx.insertInto('orgs').values(anOrg(inside)).execute()
        await tx.query('select 1/0')
      })
      expect(await failure(part)).toHaveProperty('code', '22012')
      await tx.savepoint(() => tx.insertInto('orgs').values(anOrg(after)).execute())
    })
    expect([await orgExists(before), await orgExists(inside), await orgExists(after)]).toEqual([true, false, true])
  })

  test('runs deferred work once, last, with the items of parts that were not undone', async () => {
    const runs: string[][] = []
    const work = async (tx: Tx, items: readonly string[]) => {
      await tx.query('select 1')
      runs.push([...items])
    }
    const other = (_tx: Tx, items: readonly number[]) => Promise.resolve(void runs.push(items.map(String)))
    await app.tx(async (tx) => {
      tx.defer(work, ['a'])
      await tx.savepoint(() => Promise.resolve(tx.defer(work, ['b'])))
      const part = tx.savepoint(async () => {
        tx.defer(work, ['undone'])
        await tx.query('select 1/0')
      })
      await failure(part)
      tx.defer(other, [1])
      tx.defer(work, ['c'])
      expect(runs).toEqual([])
    })
    expect(runs).toEqual([['a', 'b', 'c'], ['1']])
    await failure(
      app.tx((tx) => {
        tx.defer(work, ['rolled back'])
        return Promise.reject(new Error('no'))
      }),
    )
    expect(runs).toHaveLength(2)
  })

  test('deferred work that fails undoes the transaction', async () => {
    const id = newId()
    const failing = app.tx(async (tx) => {
      await tx.insertInto('orgs').values(anOrg(id)).execute()
      tx.defer(() => Promise.reject(new Error('no')), ['a'])
    })
    expect(await failure(failing)).toHaveProperty('message', 'no')
    expect(await orgExists(id)).toBe(false)
  })

  test('runs statements one after the other when they are started together', async () => {
    const rows = await app.tx((tx) =>
      Promise.all([1, 2, 3].map(async (n) => (await tx.query<{ n: number }>('select $1::int as n', [n])).rows[0]?.n)),
    )
    expect(rows).toEqual([1, 2, 3])
  })

  test('sends statements and rows without waiting, in their order, with COPY to here between them', async () => {
    const [first, second] = [newId(), newId()]
    const seen = await app.tx(async (tx) => {
      tx.send({
        text: 'insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1::uuid, $1::text, $2, $2, now())',
        values: [first, 'first'],
      })
      const copied = tx.copyOut(`select name from orgs where id in ('${first}', '${second}')`, 1)
      tx.sendRows('orgs (id, slug, name, data_key_sealed, created_at)', orgRow(second))
      const { rows } = await tx.query<{ n: number }>('select count(*) as n from orgs where id = any($1)', [
        [first, second],
      ])
      return [(await copied).map(([name]) => String(name)), rows[0]?.n]
    })
    expect(seen).toEqual([['first'], 2])
    expect([await orgExists(first), await orgExists(second)]).toEqual([true, true])
  })

  test.each([
    ['statement', (tx: Tx) => tx.send('select 1/0'), '22012'],
    ['rows', (tx: Tx) => tx.sendRows('orgs (id)', orgRow(newId())), '22P04'],
    ['rows for no table', (tx: Tx) => tx.sendRows('nothing (id)', orgRow(newId())), '42P01'],
  ])(
    'throws the error of a %s that was sent with what is awaited next, and commits nothing',
    async (_what, fail, code) => {
      const id = newId()
      const sent = (then: (tx: Tx) => Promise<unknown>) =>
        failure(
          app.tx(async (tx) => {
            await tx.insertInto('orgs').values(anOrg(id)).execute()
            fail(tx)
            tx.send('select 1')
            await then(tx)
          }),
        )
      const nexts = [(tx: Tx) => tx.query('select 1'), (tx: Tx) => tx.copyOut('select 1', 1), () => Promise.resolve()]
      for (const next of nexts) expect(await sent(next)).toHaveProperty('code', code)
      expect(await orgExists(id)).toBe(false)
      expect(await app.tx(async (tx) => (await tx.query<{ n: number }>('select 1 as n')).rows)).toEqual([{ n: 1 }])
    },
  )

  test('undoes the part in which a sent statement failed, and continues', async () => {
    const [inside, after] = [newId(), newId()]
    await app.tx(async (tx) => {
      const part = tx.savepoint(() => {
        tx.sendRows('orgs (id, slug, name, data_key_sealed, created_at)', orgRow(inside))
        tx.send('select 1/0')
        return Promise.resolve()
      })
      expect(await failure(part)).toHaveProperty('code', '22012')
      tx.sendRows('orgs (id, slug, name, data_key_sealed, created_at)', orgRow(after))
    })
    expect([await orgExists(inside), await orgExists(after)]).toEqual([false, true])
  })

  test('checks references with plans that are kept, and plans other statements again', async () => {
    const id = newId()
    const modes = await app.tx(async (tx) => {
      tx.sendReferring({
        text: `insert into orgs (id, slug, name, data_key_sealed, created_at)
               select $1::uuid, $1::text, current_setting('plan_cache_mode'), 'x', now()`,
        values: [id],
      })
      const { rows } = await tx.query(
        `select name as within, current_setting('plan_cache_mode') as after from orgs where id = $1`,
        [id],
      )
      return rows
    })
    expect(modes).toEqual([{ within: 'auto', after: 'force_custom_plan' }])
  })

  test('prepares a named statement once', async () => {
    const count = await app.tx(async (tx) => {
      for (const n of [1, 2, 3]) await tx.query({ name: 'test-once', text: 'select $1::int', values: [n] })
      const { rows } = await tx.query<{ runs: number }>(
        `select generic_plans + custom_plans as runs from pg_prepared_statements where name = 'test-once'`,
      )
      return rows
    })
    expect(count).toEqual([{ runs: 3 }])
  })

  test('refuses statements after its commit and after its rollback', async () => {
    const kept: Tx[] = []
    await app.tx((tx) => Promise.resolve(kept.push(tx)))
    await failure(
      app.tx((tx) => {
        kept.push(tx)
        return Promise.reject(new Error('no'))
      }),
    )
    expect(kept).toHaveLength(2)
    for (const tx of kept) {
      const refused = 'the transaction has ended'
      await expect(tx.query('select 1')).rejects.toThrow(refused)
      await expect(tx.selectFrom('orgs').select('id').execute()).rejects.toThrow(refused)
      await expect(tx.copyIn('orgs (id)', new CopyRows())).rejects.toThrow(refused)
      await expect(tx.copyOut('select 1', 1)).rejects.toThrow(refused)
    }
  })

  test('waits before its end for a statement that the work did not await', async () => {
    let slow: Promise<unknown> = Promise.resolve()
    await app.tx((tx) => {
      slow = tx.query('select pg_sleep(0.05)')
      return Promise.resolve()
    })
    await expect(slow).resolves.toBeDefined()
  })
})

describe('a connection that breaks', () => {
  test('fails its transaction as "database away" and is not used again', async () => {
    let pid = 0
    const work = app.tx(async (tx) => {
      pid = await pidOf(tx)
      await end(pid)
      await tx.insertInto('orgs').values(anOrg(newId())).execute()
    })
    expect(isDatabaseAway(await failure(work))).toBe(true)
    expect(await app.tx(pidOf)).not.toBe(pid)
  })

  test('during a rollback is closed, and the first error is thrown', async () => {
    const thrown = new Error('first')
    const pids: number[] = []
    const broken = interceptedApp(t, (text, run) =>
      text === 'rollback' ? run('select pg_terminate_backend(pg_backend_pid())') : run(),
    )
    const work = broken.tx(async (tx) => {
      pids.push(await pidOf(tx))
      throw thrown
    })
    expect(await failure(work)).toBe(thrown)
    expect(pids).not.toContain(await broken.tx(pidOf))
  })

  test('calls the listener of its reservation once', async () => {
    let lost = 0
    const session = await app.db.reserve({ onLost: () => lost++ })
    const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
    await end(rows[0]?.pid ?? 0)
    await waitFor('the call', () => Promise.resolve(lost > 0))
    session.release(true)
    session.release(true)
    expect(lost).toBe(1)
  })
})

test('outside a transaction each statement commits by itself, and the pool works after a failed one', async () => {
  const id = newId()
  await app.db.insertInto('orgs').values(anOrg(id)).execute()
  await expect(app.db.query('select 1/0')).rejects.toHaveProperty('code', '22012')
  await expect(app.db.copyOut('select 1/0', 1)).rejects.toHaveProperty('code', '22012')
  expect(await orgExists(id)).toBe(true)
  const [row] = await app.db.copyOut(`select 'x'::text`, 1)
  expect(row?.map(String)).toEqual(['x'])
})

test('a reserved connection receives notifications', async () => {
  const received: (string | undefined)[] = []
  const session = await app.db.reserve({ onNotification: (payload) => received.push(payload) })
  await session.query('listen test_channel')
  await app.db.query(`select pg_notify('test_channel', 'hello')`)
  await waitFor('the notification', () => Promise.resolve(received.length > 0))
  expect(received).toEqual(['hello'])
  session.release(true)
})

test('what memory learned in a transaction is forgotten when it, or its part, is undone', async () => {
  const forgotten: string[] = []
  const learn = (tx: Tx, what: string): void => tx.onUndone(() => forgotten.push(what))
  await app.db.tx(async (tx) => {
    learn(tx, 'kept')
    await tx.savepoint(async () => {
      learn(tx, 'part that stays')
      await tx.query('select 1')
    })
    await expect(
      tx.savepoint(() => {
        learn(tx, 'part')
        return Promise.reject(new Error('undo the part'))
      }),
    ).rejects.toThrow('undo the part')
  })
  expect(forgotten).toEqual(['part'])
  await expect(
    app.db.tx((tx) => {
      learn(tx, 'all')
      return Promise.reject(new Error('undo all'))
    }),
  ).rejects.toThrow('undo all')
  expect(forgotten).toEqual(['part', 'all'])
})
