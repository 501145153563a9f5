import { figureWord, MIN_VALUES, rateWord, type Bands } from '#shared/rate-words.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { healthSettings } from '../app-health/health-settings.ts'
import type { MetricSpread } from './read-performance.ts'
import type { Performance } from './performance.api.ts'

type RequestLimits = { readonly p95Ms: number | null; readonly failureRate: number | null }

/** The limits that a project sets for its requests. */
export async function readRequestLimits(app: App, actor: OrgActor, projectId: string): Promise<RequestLimits> {
  const settings = healthSettings((await readProject(app.db, actor.orgId, projectId))?.settings)
  return { p95Ms: settings.request_p95_limit_ms, failureRate: settings.request_failure_limit }
}

export const NO_LIMITS: RequestLimits = { p95Ms: null, failureRate: null }

/** The words for requests, by the limits of their project. */
export function judgeRequests(
  { p95, count, failures }: Pick<MetricSpread, 'p95' | 'count' | 'failures'>,
  { p95Ms, failureRate }: RequestLimits,
): Performance['limits'] {
  const bandsOf = (limit: number): Bands => ({ watch: (limit * 4) / 5, poor: limit })
  const judged = <Word>(limit: number | null, judge: (bands: Bands) => Word) => {
    if (limit === null) return null
    const bands = bandsOf(limit)
    return { ...bands, word: judge(bands) }
  }
  return {
    p95_ms: judged(p95Ms, (bands) => (count < MIN_VALUES ? null : figureWord(p95, bands))),
    failure_rate: judged(failureRate, (bands) => (count === 0 ? null : rateWord(failures / count, count, bands))),
  }
}
