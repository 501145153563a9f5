import { MAX_REQUEST_LIMIT_MS } from '#shared/limits.ts'
import type { ProjectSettings } from '../../../api/queries.ts'

/** Converts between the form of the limits of requests and the settings of the project. Pure. */

type RequestLimits = Pick<ProjectSettings, 'request_p95_limit_ms' | 'request_failure_limit'>
/** As typed: milliseconds and percent, empty for no limit. */
export type RequestLimitDraft = { readonly p95: string; readonly failures: string }

export const toRequestLimitDraft = (stored: RequestLimits): RequestLimitDraft => ({
  p95: stored.request_p95_limit_ms === null ? '' : String(stored.request_p95_limit_ms),
  failures: stored.request_failure_limit === null ? '' : percentOf(stored.request_failure_limit),
})

const percentOf = (share: number): string => String(Number((share * 100).toFixed(6)))

/** Which texts are limits, or empty. */
export const hasRequestLimits = ({ p95, failures }: RequestLimitDraft) => ({
  p95: p95 === '' || (/^\d{1,7}$/.test(p95) && Number(p95) >= 1 && Number(p95) <= MAX_REQUEST_LIMIT_MS),
  failures:
    failures === '' || (/^\d{1,3}(?:\.\d{1,6})?$/.test(failures) && Number(failures) > 0 && Number(failures) <= 100),
})

/** @param draft of valid texts */
export const toRequestLimits = ({ p95, failures }: RequestLimitDraft): RequestLimits => ({
  request_p95_limit_ms: p95 === '' ? null : Number(p95),
  request_failure_limit: failures === '' ? null : Number((Number(failures) / 100).toFixed(8)),
})
