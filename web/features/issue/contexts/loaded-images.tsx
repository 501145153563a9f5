import type { Event } from '../../../../server/protocol/event.api.ts'
import { fileTexts } from '../file-texts.ts'
import { imageRows } from './native-crash-model.ts'
import styles from './loaded-images.module.css'

/** What was loaded when it happened: name, version, id and address, as symbols are found by. */
export function LoadedImages({ images }: { images: Event['debug_images'] }) {
  const rows = imageRows(images)
  const versions = rows.some((row) => row.version !== '')
  const addresses = rows.some((row) => row.address !== '')
  return (
    // Wide tables scroll inside, which keys must be able to do too.
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
            // The images of one event never change, and one file may be loaded twice.
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
