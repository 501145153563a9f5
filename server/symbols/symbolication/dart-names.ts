import type { Event, Exception } from '../../events/protocol/event.api.ts'
import { dartMapParts, namesInMessage, namesInType, readableMessage, readableType } from '../dart/dart-map.ts'
import { readUuid } from './native-frames.ts'
import type { Symbolication } from './readable-frame.ts'
import { isReady } from './symbol-reader.ts'

/** An app has one image of Dart; more than this are libraries. */
const MAX_IMAGES = 50

/** Types and messages of exceptions of obfuscated Dart, by the map with the debug id of the app's image. */
export async function readDartNames(
  { event, reader, projectId, orgId, watcher }: Symbolication,
  exceptions: readonly Exception[],
): Promise<readonly Exception[]> {
  if (!isDart(event) || exceptions.length === 0) return exceptions
  const ids = event.debug_images.slice(0, MAX_IMAGES).flatMap(({ debug_id: id }) => readUuid(id) ?? [])
  const file = (await reader.dartMaps(projectId, ids)).find(isReady)
  const index = file === undefined ? null : await reader.open(orgId, file)
  if (file === undefined || index === null) return exceptions
  const { directory } = index
  const names = exceptions.flatMap(({ type, value }) => [...namesInType(type ?? ''), ...namesInMessage(value ?? '')])
  const part = await reader.load(orgId, file, dartMapParts(directory, names))
  const readable = exceptions.map((exception) => {
    const type = exception.type === null ? null : readableType(directory, part, exception.type)
    const value = exception.value === null ? null : readableMessage(directory, part, exception.value)
    return type === exception.type && value === exception.value ? exception : { ...exception, type, value }
  })
  if (readable.some((exception, n) => exception !== exceptions[n])) watcher?.onUsed(file.id)
  return readable
}

const isDart = ({ platform, sdk }: Event): boolean =>
  platform === 'dart' || sdk?.name?.startsWith('sentry.dart') === true
