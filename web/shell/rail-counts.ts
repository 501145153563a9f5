export type RailCounts = { feedback: number; monitors: number }

/** The key of the counts beside Feedback and Monitors, which gauge.tsx writes once it is loaded. */
export const railCountsKey = (projectId: string | null) => ['rail-counts', projectId] as const
