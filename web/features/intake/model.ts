import type { Intake } from '../../api/intake-queries.ts'
import type { BarSeries } from '../../ui/chart/bar-chart.tsx'
import { intakeTexts } from './texts.ts'

type Outcome = Intake['totals'][number]['outcome']

/** Client reports are no data of the app and are left out of the sums. */
const counts = ({ category }: { category: string }): boolean => category !== 'internal'

export type IntakeFigures = Readonly<Record<Outcome, number>> & { readonly all: number; readonly lost: number }

/** Sums over the time range. */
export function figuresOf(data: Pick<Intake, 'totals' | 'client_losses'>): IntakeFigures {
  const sums = { accepted: 0, filtered: 0, rate_limited: 0, invalid: 0, duplicate: 0, discarded: 0, dropped: 0 }
  for (const row of data.totals) if (counts(row)) sums[row.outcome] += row.quantity
  const all = Object.values(sums).reduce((a, b) => a + b, 0)
  return { ...sums, all, lost: data.client_losses.reduce((sum, row) => sum + row.quantity, 0) }
}

const SERIES: readonly { label: string; tone: BarSeries['tone']; outcomes: readonly Outcome[] }[] = [
  { label: intakeTexts.chart.accepted, tone: 'quiet', outcomes: ['accepted'] },
  { label: intakeTexts.chart.byRule, tone: 'base', outcomes: ['filtered', 'duplicate', 'discarded'] },
  { label: intakeTexts.chart.limited, tone: 'high', outcomes: ['rate_limited'] },
  { label: intakeTexts.chart.bad, tone: 'crit', outcomes: ['invalid', 'dropped'] },
]

/** The series of the chart, accepted items at the bottom. */
export function seriesOf(points: Intake['points']): BarSeries[] {
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
export function limitOf(text: string, min: number, max: number): number | null | undefined {
  const plain = text.replaceAll(/[\s,\u202f]/g, '')
  if (plain === '') return null
  const number = /^\d{1,12}$/.test(plain) ? Number(plain) : Number.NaN
  return number >= min && number <= max ? number : undefined
}
