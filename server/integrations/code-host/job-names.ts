import type { JobOptions } from '../../platform/jobs/task.ts'

/** Works on a delivery (`work-on-delivery.ts`). */
export const DELIVERY_JOB = 'code-host-delivery'
/** Reads the repository with the token (`read-repository.ts`). */
export const REPOSITORY_JOB = 'code-host-repository'
/** Gives a release its commits (`link-releases.ts`). */
export const RELEASES_JOB = 'code-host-releases'
/** Hears that an issue of the repository changed; trackers run it. */
export const HOST_ISSUE_JOB = 'code-host-issue'

/** Jobs of one project run one after the other: pushes have an order. */
export const oneByOne = (projectId: string): JobOptions => ({ oneByOne: `code host of ${projectId}` })
