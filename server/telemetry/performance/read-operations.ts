import type { App } from '../../platform/context/app.ts'
import { OWN_CODE } from './measure-spans.ts'
import { rankOperations, timeShares, type TimeShare } from './rank-operations.ts'
import { readSpans, type Scope } from './read.queries.ts'

type SpansScope = Omit<Scope, 'metrics'>

/** The operations of all spans of a range. The caller has checked the actor's access. */
export async function readOperations(app: App, scope: SpansScope) {
  const [spans, own] = await Promise.all([
    readSpans(app.db, scope, ['span', 'cache_hit']),
    readSpans(app.db, scope, ['part'], [OWN_CODE]),
  ])
  return rankOperations(spans, new Map(own.map(({ transaction, sketch }) => [transaction, sketch.count])))
}

/** Where the time of a transaction goes. The caller has checked the actor's access. */
export const readTimeShares = async (app: App, scope: SpansScope): Promise<TimeShare[]> =>
  timeShares(await readSpans(app.db, scope, ['part']))
