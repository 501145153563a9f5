import type { Task } from '../platform/jobs/task.ts'
import { purgeChatTask } from './chat/purge-chat-task.ts'
import { evaluateAlertsTask } from './evaluation/evaluate-rules.ts'
import { pushReceiptsTask } from './notifications/read-receipts-task.ts'
import { purgeAlertsTask } from './rules/keep-alerts.ts'

/** The background tasks of this district. */
export const ALERT_TASKS: readonly Task[] = [pushReceiptsTask, evaluateAlertsTask, purgeAlertsTask, purgeChatTask]
