// SPDX-License-Identifier: Apache-2.0
// Layouts of compiler.md section 9, and the generator of vectors/compiler/README.md "Inputs".
#include "arch/program/tensor_layout.h"

#include "arch/program/image.h"
#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

using Shape = std::vector<std::uint32_t>;

// compiler.md section 9 states the place of element (r, q) as a formula.
TEST(TensorLayout, EntryPlacesElementsByTheFormula) {
  for (const auto& [rows, columns, gt, bc] :
       {std::array{8u, 64u, 2u, 1u}, {8u, 64u, 1u, 1u}, {8u, 64u, 2u, 2u}, {13u, 70u, 2u, 2u}}) {
    const TensorLayout layout(fmt::format("entry:{}x{}", gt, bc), Shape{rows, columns});
    const std::uint64_t q_padded = (columns + 32 * bc - 1) / (32 * bc) * 32 * bc;
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < layout.elements(); ++i) found += layout.source(i) >= 0;
    EXPECT_EQ(found, rows * columns);
    for (std::uint32_t r = 0; r < rows; ++r)
      for (std::uint32_t q = 0; q < columns; ++q) {
        const std::uint64_t t = r / (4 * gt), g = r / 4 % gt, l = r % 4, c = q / (32 * bc), b = q / 32 % bc,
                            k = q % 32;
        const std::uint64_t index = ((((t * (q_padded / (32 * bc)) + c) * gt + g) * bc + b) * 4 + l) * 32 + k;
        ASSERT_EQ(layout.source(index), static_cast<std::int64_t>(r * columns + q));
      }
  }
}

TEST(TensorLayout, RowsBeginAtMemoryWords) {
  const TensorLayout layout("rows:7", Shape{3, 7});
  EXPECT_EQ(layout.elements(), 3u * 16);
  EXPECT_EQ(layout.source(6), 6);
  EXPECT_EQ(layout.source(7), -1);
  EXPECT_EQ(layout.source(16), 7);
  EXPECT_EQ(layout.source(38), 20);
  // A row may be another one than the last axis, and has to be whole.
  EXPECT_EQ(TensorLayout("rows:14", Shape{4, 7}).source(16 + 13), 27);
  EXPECT_THROW(TensorLayout("rows:5", Shape{3, 7}), UserError);
}

TEST(TensorLayout, TileIsInstanceThenSubTileThenRowMajor) {
  const TensorLayout layout("tile:2x1:1x2", Shape{7, 6});
  EXPECT_EQ(layout.elements(), 2u * 1 * 1 * 2 * 16);
  EXPECT_EQ(layout.source(0), 0);
  EXPECT_EQ(layout.source(5), 6 + 1);     // row 1, column 1
  EXPECT_EQ(layout.source(16), 4);        // second sub-tile: columns 4..7
  EXPECT_EQ(layout.source(18), -1);       // column 6 is padding
  EXPECT_EQ(layout.source(32), 4 * 6);    // second instance: row 4
  EXPECT_EQ(layout.source(32 + 12), -1);  // row 7 is padding
}

TEST(TensorLayout, BiasRepeatsEachGroupOfFour) {
  const TensorLayout layout("bias:2", Shape{6});
  EXPECT_EQ(layout.elements(), 32u);
  for (std::uint64_t i = 0; i < 32; ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i / 16 * 4 + i % 4);
    EXPECT_EQ(layout.source(i), column < 6 ? column : -1);
  }
}

TEST(TensorLayout, BatchBlocksStandAt2048ByteSteps) {
  const TensorLayout layout("batch2:flat", Shape{2, 3, 5});
  EXPECT_EQ(layout.elements(), 2048u);  // 1024 halfwords a block
  EXPECT_EQ(layout.source(14), 14);
  EXPECT_EQ(layout.source(15), -1);
  EXPECT_EQ(layout.source(1024), 15);
}

TEST(TensorLayout, LeadingDimensionsOfABatchMultiply) {
  const TensorLayout layout("batch6:flat", Shape{2, 3, 4, 4});
  EXPECT_EQ(layout.elements(), 6 * 1024u);
  EXPECT_EQ(layout.source(5 * 1024), 5 * 16);
  EXPECT_THROW(TensorLayout("batch6:flat", Shape{4, 3, 4, 4}), UserError);
  EXPECT_THROW(TensorLayout("batch6:flat", Shape{2, 3}), UserError);
}

// compiler.md section 9: pixel (y, x) at position (y + 1) (W + 2) + x + 1 of each block of 32 channels.
TEST(TensorLayout, ConvPlacesPixelsInAPlaneWithARim) {
  for (const auto& [h, w, c, g, bytes] : {std::array{4u, 4u, 32u, 4u, 3072u},
                                          {12u, 10u, 32u, 8u, 12032u},
                                          {6u, 5u, 64u, 4u, 7680u},
                                          {8u, 8u, 32u, 16u, 9728u}}) {
    const TensorLayout layout(fmt::format("conv:1:{}", g), Shape{h, w, c});
    EXPECT_EQ(2 * layout.elements(), bytes);  // sizes of vectors/compiler/live/conv
    const std::uint64_t wide = w + 2, plane = ((h + 2) * wide + 3) / 4 * 4;
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < layout.elements(); ++i) found += layout.source(i) >= 0;
    EXPECT_EQ(found, h * w * c);
    for (std::uint64_t y = 0; y < h; ++y)
      for (std::uint64_t x = 0; x < w; ++x)
        for (std::uint64_t q = 0; q < c; ++q) {
          const std::uint64_t index = (q / 32 * plane + (y + 1) * wide + x + 1) * 32 + q % 32;
          ASSERT_EQ(layout.source(index), static_cast<std::int64_t>((y * w + x) * c + q));
        }
  }
  EXPECT_THROW(TensorLayout("conv:1:4", Shape{4, 4, 16}), UserError);
  EXPECT_THROW(TensorLayout("conv:2:4", Shape{4, 4, 32}), UserError);
}

TEST(TensorLayout, PackAndUnpackInvert) {
  for (const char* key :
       {"flat", "entry:2x1", "entry:3x2", "tile:2x1:2x9", "batch3:entry:1x1", "batch3:tile:1x1:1x9"}) {
    const TensorLayout layout(key, Shape{3, 4, 33});
    std::vector<std::uint8_t> values(layout.values() * 2);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint8_t>(i * 37 + i / 256 + 1);
    EXPECT_EQ(layout.unpack(layout.pack(values)), values) << key;
  }
}

TEST(TensorLayout, RefusesByName) {
  const auto error = [](const char* key, const Shape& shape) {
    return error_of([&] { TensorLayout(key, shape); });
  };
  for (const char* key : {"", "flat:1", "entry:", "entry:2", "entry:0x1", "entry:2x", "entry:2x2x",
                          "tile:1x1", "batch:flat", "batch2flat", "entry:99999x1"})
    EXPECT_TRUE(error(key, {2, 4}).find("unknown layout") != std::string::npos) << key;
  EXPECT_EQ(error("tile:1x1:1x1", {5, 4}), "layout \"tile:1x1:1x1\" holds 4x4 values, the tensor has 5x4");
  EXPECT_EQ(error("batch3:flat", {2, 4}),
            "layout \"batch3:flat\" wants a shape whose first dimensions multiply to 3");
  EXPECT_EQ(error("bias:1", {2, 4}), "layout \"bias:1\" is for a vector, the tensor has 2 rows");
  EXPECT_EQ(error("flat", {2, 0}), "layout \"flat\": the shape holds a dimension of 0");
  EXPECT_EQ(error("flat", {}), "layout \"flat\": the shape is empty");
}

TEST(Image, LcgValuesByHand) {
  // x1 = 1664525 * 139 + 1013904223 = 1245273198 -> (x1 >> 20) - 2048 = -861 -> -861 / 1024 = -0.8408...
  const auto values = lcg_values({2, 139, 10, 0, false});
  EXPECT_EQ(values[0], double_to_fp16(-861.0 / 1024));
  const auto many = lcg_values({5000, 139, 10, 0, false});
  std::uint64_t x = 139;
  for (const std::uint16_t v : many) {
    x = (1664525 * x + 1013904223) % 4294967296;
    ASSERT_EQ(v, double_to_fp16((static_cast<double>(x / 1048576) - 2048) / 1024));
  }
  const auto positive = lcg_values({1, 139, 10, 0.5, true});
  EXPECT_EQ(positive[0], double_to_fp16(861.0 / 1024 + 0.5));
}

TEST(Image, DoubleToFp16) {
  EXPECT_EQ(double_to_fp16(1.0), 0x3C00);
  EXPECT_EQ(double_to_fp16(-2.0), 0xC000);
  EXPECT_EQ(double_to_fp16(0.0), 0);
  EXPECT_EQ(double_to_fp16(65504), 0x7BFF);
  EXPECT_EQ(double_to_fp16(65519.99), 0x7BFF);
  EXPECT_EQ(double_to_fp16(65520), 0x7C00);
  EXPECT_EQ(double_to_fp16(0x1p-24), 1);
  EXPECT_EQ(double_to_fp16(0x1p-25), 0);          // tie to even
  EXPECT_EQ(double_to_fp16(0x1.8p-24), 2);        // tie to even
  EXPECT_EQ(double_to_fp16(0x1.ffcp-15), 0x400);  // rounds up to the smallest normal
  EXPECT_EQ(double_to_fp16(1 + 0x1p-11), 0x3C00);
  EXPECT_EQ(double_to_fp16(1 + 0x1.8p-10), 0x3C02);
}

TEST(Image, PiecesJoinToTheWholePattern) {
  const ImageBytes pattern{{1, 2, 3, 4, 5, 6, 7}, 200000};
  std::uint64_t next = 0x1000;
  std::size_t pieces = 0;
  generate({0x1000, pattern}, [&](std::uint64_t at, std::span<const std::uint8_t> bytes) {
    ASSERT_EQ(at, next);
    for (const std::uint8_t b : bytes) ASSERT_EQ(b, 1 + (next++ - 0x1000) % 7);
    ++pieces;
  });
  EXPECT_EQ(next, 0x1000u + 200000);
  EXPECT_GT(pieces, 1u);
  const ImageLcg lcg{40000, 5, 10, 0, false};
  const auto bytes = image_data(MemoryImage{0, lcg});
  const auto values = lcg_values(lcg);
  ASSERT_EQ(bytes.size(), 80000u);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(bytes[2 * i] | bytes[2 * i + 1] << 8, values[i]);
}

}  // namespace
}  // namespace ktpu::arch
