import { purgeFilesTask } from '../feedback/purge-task.ts'
import type { Task } from '../jobs/task.ts'
import { purgeSessionsTask } from '../metrics/sessions/purge-sessions.ts'
import { erasureTask } from '../privacy/erasure-task.ts'
import { purgeTelemetryTask } from '../telemetry/purge-telemetry.ts'

/** Everything that runs behind the scenes beside digestion. */
export const TASKS: readonly Task[] = [erasureTask, purgeFilesTask, purgeSessionsTask, purgeTelemetryTask]
