import type pg from 'pg'
import type { App } from '#server/platform/context/app.ts'
import { Database } from '#server/platform/storage/database.ts'
import { createPool } from '#server/platform/storage/pool.ts'
import type { TestApp } from './test-app.ts'

type Result = Promise<pg.QueryResult>

/**
 * Called for each statement except COPY, including `begin` and `commit`. Returns `run()`, a changed result, or the
 * result of another statement: `run('select 1/0')`.
 */
export type Intercept = (text: string, run: (instead?: string) => Result) => Result

/** The app on separate connections, whose statements can be delayed, failed and replaced. */
export function interceptedApp({ app, connectionString, onClose }: TestApp, intercept: Intercept): App {
  const pool = createPool({ connectionString, name: 'intercepted', max: 6, onError: () => {} })
  onClose(() => pool.end())
  const wrap = (client: pg.PoolClient): pg.PoolClient =>
    new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== 'query') return value.bind(target) as unknown
        return (...args: unknown[]): unknown => {
          const run = (instead?: string): Result =>
            instead === undefined ? (Reflect.apply(value, target, args) as Result) : target.query(instead)
          const [statement] = args
          if (typeof statement === 'string') return intercept(statement, run)
          if (typeof statement !== 'object' || statement === null || !('text' in statement)) return run()
          return 'submit' in statement ? run() : intercept(String(statement.text), run)
        }
      },
    })
  const db = new Database(
    new Proxy(pool, {
      get(target, name) {
        if (name === 'connect') return async () => wrap(await target.connect())
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    }),
  )
  return { ...app, db, tx: (work) => db.tx(work) }
}
