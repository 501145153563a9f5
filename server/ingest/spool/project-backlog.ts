import type { App } from '../../platform/context/app.ts'
import { type ProjectBacklog, selectLargestLags, selectProjectBacklog } from './spool.queries.ts'

/** Maximum projects in `/-/metrics`. */
const MAX_LAGS = 10

/** What of a project waits for digestion; null when nothing does. */
export const backlogOfProject = ({ db, clock }: App, projectId: string): Promise<ProjectBacklog | null> =>
  selectProjectBacklog(db, projectId, clock.now())

/** The projects whose oldest entry has waited longest. */
export const largestLags = ({ db, clock }: App): Promise<ProjectBacklog[]> =>
  selectLargestLags(db, MAX_LAGS, clock.now())
