import type { dryRunRoutes } from '../rules/alerts.api.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { dryRun } from './dry-run.ts'

export const dryRunHandlers: Handlers<typeof dryRunRoutes> = {
  dryRunAlertRule: (app, actor, { body }) => dryRun(app, actor, body),
}
