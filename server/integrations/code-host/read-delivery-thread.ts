import { serveThread } from '../../platform/kernel/thread-task.ts'
import { type PackedDelivery, readDelivery } from './read-delivery.ts'
import type { HostEvent } from './vendor.ts'

/** Body of a thread that reads a large payload, which would block other requests for a second. */
serveThread<PackedDelivery, HostEvent>(readDelivery)
