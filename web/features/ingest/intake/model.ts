import type { Intake } from '../../../api/intake-queries.ts'
import { counts, type IntakeFigures, type Outcome } from '../../../api/intake-figures.ts'
import type { BarSeries } from '../../../ui/chart/bar-chart.tsx'
import { intakeTexts } from './texts.ts'

const SERIES: readonly { label: string; tone: BarSeries['tone']; outcomes: readonly Outcome[] }[] = [
  { label: intakeTexts.chart.accepted, tone: 'quiet', outcomes: ['accepted'] },
  { label: intakeTexts.chart.byRule, tone: 'base', outcomes: ['filtered', 'duplicate', 'discarded'] },
  { label: intakeTexts.chart.limited, tone: 'high', outcomes: ['rate_limited'] },
  { label: intakeTexts.chart.bad, tone: 'crit', outcomes: ['invalid', 'dropped'] },
]

/** The sum of each series over the range: together, all items that arrived. */
export const sumBySeries = (figures: IntakeFigures): { label: string; tone: BarSeries['tone']; quantity: number }[] =>
  SERIES.map(({ label, tone, outcomes }) => ({
    label,
    tone,
    quantity: outcomes.reduce((sum, outcome) => sum + figures[outcome], 0),
  }))

/** The series of the chart, accepted items at the bottom. */
export function toIntakeSeries(points: Intake['points']): BarSeries[] {
  return SERIES.map(({ label, tone, outcomes }) => ({
    label,
    tone,
    values: points.map((point) =>
      point.outcomes
        .filter((one) => outcomes.includes(one.outcome) && counts(one))
        .reduce((sum, one) => sum + one.quantity, 0),
    ),
  }))
}

/** `30,000` or `30000` → 30000; empty → null; invalid or out of bounds → undefined. */
export function parseLimit(text: string, min: number, max: number): number | null | undefined {
  const plain = text.replaceAll(/[\s,\u202f]/g, '')
  if (plain === '') return null
  const number = /^\d{1,12}$/.test(plain) ? Number(plain) : Number.NaN
  return number >= min && number <= max ? number : undefined
}
