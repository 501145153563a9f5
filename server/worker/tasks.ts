import type { Task } from '../jobs/task.ts'
import { purgeSessionsTask } from '../metrics/sessions/purge-sessions.ts'
import { erasureTask } from '../privacy/erasure-task.ts'

/** Everything that runs behind the scenes beside digestion. */
export const TASKS: readonly Task[] = [erasureTask, purgeSessionsTask]
