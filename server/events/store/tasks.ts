/** The background tasks of stored events. */
export { moveBlocksTask } from './move-blocks.ts'
export { packEventsTask } from './pack-task.ts'
export { purgeEventsTask } from './purge-events.ts'
