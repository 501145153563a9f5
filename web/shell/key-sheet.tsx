import { KEY_GROUPS, useRegisteredKeys } from '../app/keys.ts'
import { usePrefs } from '../app/prefs.ts'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Cap, keyCaps } from '../ui/kbd.tsx'
import { Minor } from '../ui/text.tsx'
import { appTexts } from '../app/texts.ts'
import typeStyles from '../ui/type.module.css'
import { keySheetTexts } from './key-sheet-texts.ts'
import { shellTexts } from './texts.ts'
import styles from './key-sheet.module.css'

/** All shortcuts of the present page (`?`). */
export function KeySheet({ onClose }: { onClose: () => void }) {
  const bindings = useRegisteredKeys()
  const { letterKeys } = usePrefs()
  const groups = KEY_GROUPS.map((group) => ({
    group,
    rows: bindings.filter((binding) => binding.group === group),
  })).filter(({ rows }) => rows.length > 0)
  return (
    <Dialog open bare title={appTexts.keys} onClose={onClose}>
      <div className={styles.sheet}>
        <header>
          <h2>{appTexts.keys}</h2>
          <IconButton look="ghost" icon="x" label={shellTexts.close} onClick={onClose} />
        </header>
        {letterKeys ? null : <Minor as="p">{keySheetTexts.off}</Minor>}
        <div className={styles.groups}>
          {groups.map(({ group, rows }) => (
            <section key={group} aria-label={group}>
              <h3>{group}</h3>
              <dl>
                {rows.map((binding) => (
                  <div key={binding.keys}>
                    <dt className={typeStyles.soft}>{binding.label}</dt>
                    <dd className={styles.keys}>
                      {keyCaps(binding.keys).map((cap) => (
                        <Cap key={cap} cap={cap} spoken />
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
    </Dialog>
  )
}
