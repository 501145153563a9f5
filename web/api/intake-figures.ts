import type { Intake } from './intake-queries.ts'

/** Sums of the outcomes of items, by the time at which the items arrived. Pure. */

export type Outcome = Intake['totals'][number]['outcome']

/** Client reports are no data of the app and are left out of the sums. */
export const counts = ({ category }: { category: string }): boolean => category !== 'internal'

export type IntakeFigures = Readonly<Record<Outcome, number>> & { readonly all: number; readonly lost: number }

/** Sums over the time range. */
export function sumIntakeFigures(data: Pick<Intake, 'totals' | 'client_losses'>): IntakeFigures {
  const sums = { accepted: 0, filtered: 0, rate_limited: 0, invalid: 0, duplicate: 0, discarded: 0, dropped: 0 }
  for (const row of data.totals) if (counts(row)) sums[row.outcome] += row.quantity
  const all = Object.values(sums).reduce((a, b) => a + b, 0)
  return { ...sums, all, lost: data.client_losses.reduce((sum, row) => sum + row.quantity, 0) }
}
