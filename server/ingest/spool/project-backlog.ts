import type { App } from '../../platform/context/app.ts'
import { type ProjectBacklog, selectLargestLags, selectLateShards, selectProjectBacklog } from './spool.queries.ts'

/** Maximum projects in `/-/metrics`. */
const MAX_LAGS = 10

/** Entries of a project that wait for digestion; null when none do. */
export const backlogOfProject = ({ db, clock }: App, projectId: string): Promise<ProjectBacklog | null> =>
  selectProjectBacklog(db, projectId, clock.now())

/** The projects whose oldest entry has waited longest. */
export const largestLags = ({ db, clock }: App): Promise<ProjectBacklog[]> =>
  selectLargestLags(db, MAX_LAGS, clock.now())

/** Shards with a project whose oldest entry waits for longer than a time. */
export const lateShards = ({ db, clock }: App, ms: number): Promise<number[]> =>
  selectLateShards(db, new Date(clock.now().getTime() - ms))
