import type { Task } from '../jobs/task.ts'
import { purgeSessionsTask } from '../metrics/sessions/purge-sessions.ts'

/** Everything that runs behind the scenes beside digestion. */
export const TASKS: readonly Task[] = [purgeSessionsTask]
