import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { askedKey } from './facts.ts'
import { issueIdsQuery, selectIssueIds, type IssueFilter } from './list.queries.ts'
import { issuesMatching, type Matching } from './issues-matching.ts'
import { readQuery } from './parse-query.ts'
import type { Query } from './query.ts'
import { nearest, type Hint } from './query-error.ts'
import { ALIASES, knowsKey } from './query-keys.ts'
import { SUGGESTED_KEYS } from './suggested-keys.ts'
import { tagsIn } from './suggest.ts'

/** Unknown keys of one query that are looked up. */
const MAX_KEYS = 5

/**
 * Returns a hint for each key of a query that is neither built in nor a tag of an issue in the scope.
 * @param scope the projects of the list
 * @param total number of matches: what a match fulfils is known
 */
export async function hintsFor(
  app: App,
  actor: OrgActor,
  scope: Pick<IssueFilter, 'projectIds' | 'hiddenProjectIds'>,
  text: string,
  total: number,
): Promise<Hint[]> {
  const { query, keys } = readQuery(text)
  const fulfilled = new Set(total > 0 && query !== null ? (query.kind === 'and' ? query.parts : [query]) : [])
  const unknown = keys.filter(({ key, term }) => !knowsKey(key) && !fulfilled.has(term))
  const missing = new Set<string>()
  for (const key of [...new Set(unknown.map((place) => place.key))].slice(0, MAX_KEYS))
    if (!(await isTag(app, actor, scope, key))) missing.add(key)
  if (missing.size === 0) return []
  const tags = await tagsIn(app, actor, scope)
  const choices = [...Object.keys(SUGGESTED_KEYS), ...Object.keys(ALIASES), ...tags]
  return unknown
    .filter(({ key }) => missing.has(key))
    .map(({ key, start, end }) => {
      const replacement = nearest(key, choices)
      const name = key.slice(0, 50)
      const sentence =
        replacement === null ? `No issue has the tag "${name}".` : `No tag "${name}". Did you mean ${replacement}?`
      return { start, end, sentence, replacement }
    })
}

/** Whether an issue in the scope has the tag. */
async function isTag(app: App, actor: OrgActor, scope: IssueFilter, key: string): Promise<boolean> {
  const query: Query = { kind: 'has', key: askedKey(key) }
  const filterBy = ({ seenSince, conditions }: Matching): IssueFilter => ({ ...scope, seenSince, conditions })
  const idsOf = (matching: Matching) => issueIdsQuery(app.db, actor, filterBy(matching))
  const matching = await issuesMatching(app.db, actor, query, app.clock.now(), idsOf)
  return (await selectIssueIds(app.db, actor, filterBy(matching), 1)).length > 0
}
