import styles from './segmented.module.css'

type SegmentedProps<T extends string> = {
  label: string
  /** Null if none is pressed. */
  value: T | null
  options: readonly { readonly value: T; readonly label: string; readonly title?: string }[]
  onChange: (value: T) => void
  size?: 'sm' | 'md'
}

/** A group of buttons of which one is pressed. */
export function Segmented<T extends string>({ label, value, options, onChange, size = 'md' }: SegmentedProps<T>) {
  return (
    <div className={styles.segmented} data-size={size} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          title={option.title}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}
