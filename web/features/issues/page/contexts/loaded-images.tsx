import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { fileTexts } from '../file-texts.ts'
import { imageRows } from './native-crash-model.ts'
import styles from './loaded-images.module.css'

/** The loaded images of a native crash: name, version, debug id and address. */
export function LoadedImages({ images }: { images: Event['debug_images'] }) {
  const rows = imageRows(images)
  const versions = rows.some((row) => row.version !== '')
  const addresses = rows.some((row) => row.address !== '')
  return (
    // Focusable, so that keys can scroll a wide table.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.images} tabIndex={0} role="region" aria-label={fileTexts.loaded}>
      <table>
        <thead>
          <tr>
            <th scope="col">{fileTexts.module}</th>
            {versions ? <th scope="col">{fileTexts.version}</th> : null}
            <th scope="col">{fileTexts.debugId}</th>
            {addresses ? <th scope="col">{fileTexts.loadedAt}</th> : null}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // A file may be loaded twice; the list never changes.
            <tr key={`${row.path} ${index}`}>
              <th scope="row" title={row.path}>
                {row.name}
              </th>
              {versions ? <td>{row.version}</td> : null}
              <td>{row.debugId}</td>
              {addresses ? <td>{row.address}</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
