export function ModelSkeleton() {
  return (
    <div className="page pt-12" aria-busy="true">
      <div className="mt-4 flex gap-6">
        <div className="skeleton size-20 rounded-2xl sm:size-28" />
        <div className="grid flex-1 content-start gap-3">
          <div className="skeleton h-9 w-72 max-w-full" />
          <div className="skeleton h-5 w-96 max-w-full" />
        </div>
      </div>
    </div>
  )
}
