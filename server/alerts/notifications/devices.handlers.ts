import type { Handlers } from '../../platform/context/handlers.ts'
import { deleteDevice } from './delete-device.ts'
import type { pushDeviceRoutes } from './devices.api.ts'
import { listDevices, readDevice } from './list-devices.ts'
import { registerDevice } from './register-device.ts'
import { testDevice } from './test-device.ts'

export const pushDeviceHandlers: Handlers<typeof pushDeviceRoutes> = {
  async registerPushDevice(app, actor, call) {
    const { device, isNew } = await registerDevice(app, actor, call.body)
    if (!isNew) call.useOtherStatus()
    return device
  },
  listPushDevices: (app, actor, { query }) => listDevices(app, actor, query),
  readPushDevice: (app, actor, { params }) => readDevice(app, actor, params.deviceId),
  testPushDevice: (app, actor, { params }) => testDevice(app, actor, params.deviceId),
  deletePushDevice: (app, actor, { params }) => deleteDevice(app, actor, params.deviceId),
}
