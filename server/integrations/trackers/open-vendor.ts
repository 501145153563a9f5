import type { App } from '../../platform/context/app.ts'
import type { TrackerConfig } from './config.ts'
import { hostTracker } from './host-tracker.ts'
import { jiraTracker } from './jira.ts'
import { linearTracker } from './linear.ts'
import type { Tracker } from './tracker.ts'

/** The tracker of a configuration. @param group whose connections are used */
export function selectVendor(app: App, config: TrackerConfig, group: string): Tracker {
  switch (config.provider) {
    case 'tracker_a':
      return linearTracker(app, config, group)
    case 'tracker_b':
      return jiraTracker(app, config, group)
    case 'codehost':
      return hostTracker(app, config, group)
  }
}
