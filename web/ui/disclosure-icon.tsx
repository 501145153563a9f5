import { Icon } from './icon.tsx'
import styles from './disclosure-icon.module.css'

/** The arrow of a `<summary>`; it points down while the details are open. */
export const DisclosureIcon = () => <Icon name="right" className={styles.arrow} />
