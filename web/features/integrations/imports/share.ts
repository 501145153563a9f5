import type { Import } from '../../../api/import-queries.ts'

/** How far an import is, from 0 to 1: issues are nearly all of the work. Done only at the end. */
export function computeShare({ state, counts }: Pick<Import, 'state' | 'counts'>): number {
  if (state === 'done') return 1
  const { done, total } = counts.issues
  return total === null || total === 0 ? 0 : Math.min(0.99, done / total)
}
