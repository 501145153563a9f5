import type { MetricFinding, MetricSeries } from '../../../api/metric-queries.ts'
import type { Range } from '../../../address/search.ts'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { formatCount, formatFactor, formatMoment, formatRate, formatShare } from '../../../ui/format.ts'
import type { IconName } from '../../../ui/icon.tsx'
import { metricsTexts } from './texts.ts'

/** The sentence of a finding, with the issue that it names. Pure. */

export type FindingSentence = {
  readonly icon: IconName
  readonly text: string
  readonly issue?: { readonly id: string; readonly shortId: string }
}

const NOTHING: FindingSentence = { icon: 'info', text: metricsTexts.nothingFound }

/**
 * @param judged the rate that the finding is about, for its word
 * @param held the version of the newest release, if it is on hold: its few sessions do not move the rate of all
 */
export function findingSentence(
  finding: MetricFinding | null,
  range: Range,
  judged?: Pick<MetricSeries, 'word' | 'bands'>,
  held: string | null = null,
): FindingSentence {
  if (finding === null) return NOTHING
  const before = metricsTexts.before[range]
  switch (finding.kind) {
    case 'rose':
    case 'fell': {
      const since = finding.release === null ? formatMoment(finding.since) : shortRelease(finding.release)
      const text = metricsTexts[finding.kind](since, formatRate(finding.after), formatRate(finding.before))
      return { icon: finding.kind === 'rose' ? 'warn' : 'check', text }
    }
    case 'steady': {
      const value = formatRate(finding.value)
      if (judged?.word === 'poor' && judged.bands !== null)
        return { icon: 'warn', text: metricsTexts.steadyOver(value, formatRate(judged.bands.poor)) }
      if (held !== null) return { icon: 'warn', text: metricsTexts.steadyHeld(value, shortRelease(held)) }
      return { icon: judged?.word === 'good' ? 'check' : 'info', text: metricsTexts.steady(value) }
    }
    case 'passes_limit':
      return { icon: 'warn', text: metricsTexts.passesLimit(metricsTexts.daysLong(finding.days)) }
    case 'issue':
      return {
        icon: 'st-regressed',
        text: metricsTexts.ofTheRise(formatShare(finding.share)),
        issue: { id: finding.issue_id, shortId: finding.short_id },
      }
    case 'peak':
      return {
        icon: 'info',
        text: metricsTexts.peak(formatMoment(finding.at), formatCount(finding.value), formatFactor(finding.times)),
      }
    case 'changed': {
      const share = formatShare(Math.abs(finding.share))
      if (Math.round(finding.share * 100) === 0) return { icon: 'info', text: metricsTexts.same(before) }
      return { icon: 'info', text: metricsTexts[finding.share > 0 ? 'more' : 'less'](share, before) }
    }
    case 'lost':
      return {
        icon: finding.dropped + finding.rate_limited > 0 ? 'warn' : 'info',
        text: metricsTexts.lost(formatCount(finding.dropped), formatCount(finding.rate_limited)),
      }
    case 'affected':
      return {
        icon: 'user',
        text:
          finding.users === 1
            ? metricsTexts.affectedOne(formatRate(finding.share))
            : metricsTexts.affected(formatCount(finding.users), formatRate(finding.share)),
      }
    default:
      return NOTHING
  }
}
